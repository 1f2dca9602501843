// SPDX-License-Identifier: BSD-3-Clause
/// The options and arguments of a program or of one of its commands, parsed with CLI11; an unknown option is answered
/// with the nearest known one.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command_line/option.hpp"

namespace CLI {
class App;
}

namespace sluice::command_line {

/// The type of an option's value; a list takes several.
template <typename T>
concept Value = std::same_as<T, std::string> || std::same_as<T, int> || std::same_as<T, unsigned> ||
    std::same_as<T, std::uint64_t> || std::same_as<T, double> || std::same_as<T, std::vector<std::string>> ||
    std::same_as<T, std::vector<int>> || std::same_as<T, std::vector<std::uint64_t>>;

class CommandLine {
  public:
    /// `name` is the program's, or the command as it is typed: "sluice bench madre".
    CommandLine(std::string const& name, std::string const& description);
    CommandLine(CommandLine const&) = delete;
    CommandLine& operator=(CommandLine const&) = delete;
    ~CommandLine();

    std::string const& name() const { return name_; }

    /// Adds an option that sets `value`, or a positional argument if the name has no dashes. The value before parse()
    /// is the default; the variable must live until then.
    template <Value T>
    Option option(std::string const& name, T& value, std::string const& help);
    /// Adds an option without a value, which sets the variable to true.
    void flag(std::string const& name, bool& is_given, std::string const& help);
    /// Moves the option --help behind those added so far, and gives it this help.
    void put_help_here(std::string const& help);

    /// The text after "Usage:", instead of the name, "[OPTIONS]" and the positional arguments.
    void set_usage(std::string const& usage) { usage_ = usage; }
    /// Paragraphs below the options.
    void set_footer(std::string const& footer);

    /// Parses the arguments after the program's or command's name. Returns true if the program should go on; false if
    /// the help or the manual page (manual.hpp) was requested and printed. Throws UsageError.
    bool parse(std::vector<std::string> const& arguments);
    /// Parses the arguments of main(). Returns the program's exit code if it should end: 0 after the help; 2 for wrong
    /// arguments, after a line on standard error.
    std::optional<int> parse_main(int argc, char** argv);

    /// Returns true if parse() found the option.
    bool has(std::string const& option) const;

  private:
    std::string name_;
    std::string usage_;
    std::unique_ptr<CLI::App> app_;
};

}  // namespace sluice::command_line
