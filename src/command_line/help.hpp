// SPDX-License-Identifier: BSD-3-Clause
/// The layout of every help: usage as it is typed, then at most 100 columns of text, each option with its default.
#pragma once

#include <string>

#include "command_line/cli11.hpp"

namespace sluice::command_line {

class Help : public CLI::Formatter {
  public:
    /// `usage` is the text after "Usage:"; empty: "NAME [OPTIONS]" and the positional arguments.
    explicit Help(std::string usage) : usage_(std::move(usage)) {}

    std::string make_help(CLI::App const* app, std::string name, CLI::AppFormatMode mode) const override;
    std::string make_option(CLI::Option const* option, bool is_positional) const override;
    std::string make_option_usage(CLI::Option const* option) const override;

  protected:
    struct OptionText {
        std::string names;  ///< "-n,--number N"
        std::string help;   ///< with range and default
    };
    OptionText text_of(CLI::Option const* option, bool is_positional) const;
    /// The text after "Usage:".
    std::string usage_line(CLI::App const* app, std::string const& name) const;

  private:
    std::string usage_;
};

}  // namespace sluice::command_line
