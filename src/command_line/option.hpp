// SPDX-License-Identifier: BSD-3-Clause
/// An option of a command line: how many values it takes, which ones, and how the help shows it.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class Option;
}

namespace sluice::command_line {

/// Refers to an option of a CommandLine and is valid as long as that is. A value that a limit refuses is a UsageError
/// of CommandLine::parse. The help tells ranges and words.
class Option {
  public:
    explicit Option(CLI::Option* option) : option_(option) {}

    Option& required();
    /// For lists: "1,2" is two values.
    Option& separated_by_commas();
    /// For lists.
    Option& exactly(int values);
    /// For positional lists, which take at least one value otherwise.
    Option& any_number();

    Option& positive();
    Option& not_negative();
    Option& between(int least, int most);
    Option& between(double least, double most);
    Option& one_of(std::vector<std::string> const& words);

    /// The help shows the value that the variable has now as the default.
    Option& shows_default();
    Option& default_text(std::string const& text);
    /// The name of the value in the help, such as "BYTES", instead of N for numbers and WORD for text.
    Option& value_name(std::string const& name);
    /// The help lists the option below this heading instead of "Options".
    Option& heading(std::string const& heading);

  private:
    CLI::Option* option_;
};

}  // namespace sluice::command_line
