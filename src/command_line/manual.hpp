// SPDX-License-Identifier: BSD-3-Clause
/// The layout of every manual page, in roff with the macros of man(7). Pages are made from what --help shows, during
/// the build.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "command_line/help.hpp"

namespace sluice::command_line {

/// The only argument of a command that prints its manual page; helps do not show it.
inline constexpr std::string_view k_manual_option = "--manual-page";

/// The page of a command with options.
class Manual : public Help {
  public:
    explicit Manual(std::string const& usage) : Help(usage) {}

    std::string make_help(CLI::App const* app, std::string name, CLI::AppFormatMode mode) const override;
    std::string make_group(std::string group, bool is_positional,
                           std::vector<CLI::Option const*> options) const override;
    std::string make_option(CLI::Option const* option, bool is_positional) const override;
};

/// A command that consists of commands.
struct CommandList {
    struct Entry {
        std::string_view name;
        std::string_view help;
    };
    std::string name;         ///< "sluice bench"
    std::string description;  ///< paragraphs; the first sentence is the page's summary
    std::string usage;        ///< after the name: "NAME [OPTIONS]"
    std::string heading;      ///< "Benchmarks"
    std::vector<Entry> commands;
    std::string footer;  ///< paragraphs
};

std::string manual_of(CommandList const& list);

}  // namespace sluice::command_line
