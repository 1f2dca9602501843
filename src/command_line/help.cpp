// SPDX-License-Identifier: BSD-3-Clause
#include "command_line/help.hpp"

#include <sstream>

#include "base/columns.hpp"

namespace sluice::command_line {

namespace {

constexpr std::size_t k_columns = 100;
constexpr std::size_t k_names = 28;  ///< columns for names of options and their values

std::string paragraphs(std::string const& text) {
    std::string lines;
    std::istringstream stream(text);
    for (std::string paragraph; std::getline(stream, paragraph);)
        lines += paragraph.empty() ? "\n" : base::wrapped("", paragraph, k_columns);
    return lines;
}

/// "INT:{1,2}" is a type and its accepted values; only the values are shown.
std::string type_of(CLI::Option const& option) {
    std::string const name = option.get_type_name();
    return name.substr(name.find(':') + 1);
}

}  // namespace

std::string Help::make_help(CLI::App const* app, std::string name, CLI::AppFormatMode mode) const {
    std::string help = usage_.empty() ? make_usage(app, name) : "Usage: " + usage_ + "\n";
    help += "\n" + paragraphs(app->get_description());
    std::string groups = make_positionals(app) + make_groups(app, mode);
    for (std::size_t at = groups.find("\n\n\n"); at != std::string::npos; at = groups.find("\n\n\n"))
        groups.erase(at, 1);
    help += groups;
    if (!app->get_footer().empty()) help += "\n" + paragraphs(app->get_footer());
    return help;
}

std::string Help::make_option_usage(CLI::Option const* option) const {
    std::string const text = make_option_name(option, true) + (option->get_expected_max() > 1 ? "…" : "");
    return option->get_required() ? text : "[" + text + "]";
}

std::string Help::make_option(CLI::Option const* option, bool is_positional) const {
    std::string names = "  " + make_option_name(option, is_positional);
    if (!is_positional && option->get_type_size() != 0) names += " " + type_of(*option);
    std::string text = make_option_desc(option);
    if (!option->get_default_str().empty()) text += " (default " + option->get_default_str() + ")";
    std::string begun;
    if (base::columns_of(names) + 2 > k_names) {
        begun = names + "\n";
        names.clear();
    }
    names.resize(names.size() + k_names - base::columns_of(names), ' ');
    return begun + base::wrapped(names, text, k_columns);
}

}  // namespace sluice::command_line
