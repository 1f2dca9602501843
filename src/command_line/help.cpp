// SPDX-License-Identifier: BSD-3-Clause
#include "command_line/help.hpp"

#include <sstream>
#include <string_view>

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

/// What an option's value is called, and the range that a number must be in, if there is one.
struct ValueWords {
    std::string name;
    std::string range;
};

/// CLI11 says "WORD:{torus,fattree}" for a list of words and "N:2 to 64" for a range; words stand for their own name.
ValueWords value_of(CLI::Option const& option) {
    std::string const text = option.get_type_name();
    std::size_t const colon = text.find(':');
    if (colon == std::string::npos) return {text, {}};
    std::string const checked = text.substr(colon + 1);
    if (checked.starts_with('{')) return {checked, {}};
    return {text.substr(0, colon), checked};
}

}  // namespace

std::string Help::make_help(CLI::App const* app, std::string name, CLI::AppFormatMode mode) const {
    std::string help = "Usage: " + usage_line(app, name) + "\n\n" + paragraphs(app->get_description());
    std::string groups = make_positionals(app) + make_groups(app, mode);
    for (std::size_t at = groups.find("\n\n\n"); at != std::string::npos; at = groups.find("\n\n\n"))
        groups.erase(at, 1);
    help += groups;
    if (!app->get_footer().empty()) help += "\n" + paragraphs(app->get_footer());
    return help;
}

std::string Help::usage_line(CLI::App const* app, std::string const& name) const {
    if (!usage_.empty()) return usage_;
    std::string usage = make_usage(app, name);  // "Usage: NAME [OPTIONS]" and ends of lines
    usage.erase(0, std::string_view("Usage: ").size());
    return usage.substr(0, usage.find('\n'));
}

std::string Help::make_option_usage(CLI::Option const* option) const {
    std::string const text = make_option_name(option, true) + (option->get_expected_max() > 1 ? "…" : "");
    return option->get_required() ? text : "[" + text + "]";
}

Help::OptionText Help::text_of(CLI::Option const* option, bool is_positional) const {
    OptionText text{make_option_name(option, is_positional), make_option_desc(option)};
    ValueWords const value = value_of(*option);
    if (!is_positional && option->get_type_size() != 0) text.names += " " + value.name;
    std::string added = value.range;
    if (!option->get_default_str().empty())
        added += std::string(added.empty() ? "" : "; ") + "default " + option->get_default_str();
    if (!added.empty()) text.help += " (" + added + ")";
    return text;
}

std::string Help::make_option(CLI::Option const* option, bool is_positional) const {
    OptionText const text = text_of(option, is_positional);
    std::string names = "  " + text.names;
    std::string begun;
    if (base::columns_of(names) + 2 > k_names) {
        begun = names + "\n";
        names.clear();
    }
    names.resize(names.size() + k_names - base::columns_of(names), ' ');
    return begun + base::wrapped(names, text.help, k_columns);
}

}  // namespace sluice::command_line
