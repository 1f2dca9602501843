// SPDX-License-Identifier: BSD-3-Clause
#include "command_line/manual.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "sluice/version.h"

namespace sluice::command_line {

namespace {

/// "sluice run" is sluice-run(1).
std::string page_of(std::string name) {
    std::replace(name.begin(), name.end(), ' ', '-');
    return name;
}

std::string in_capitals(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
    return text;
}

/// Text as roff prints it: hyphens can be copied, and no line is taken for a request.
std::string escaped(std::string_view text) {
    std::string result;
    if (text.starts_with('.') || text.starts_with('\'')) result = "\\&";
    for (char const c : text) {
        if (c == '\\')
            result += "\\e";
        else if (c == '-')
            result += "\\-";
        else
            result += c;
    }
    return result;
}

std::string roff_paragraphs(std::string const& text) {
    std::string roff;
    std::istringstream stream(text);
    for (std::string paragraph; std::getline(stream, paragraph);)
        roff += paragraph.empty() ? ".PP\n" : escaped(paragraph) + "\n";
    return roff;
}

std::string entry(std::string_view term, std::string_view text) {
    return ".TP\n\\fB" + escaped(term) + "\\fR\n" + escaped(text) + "\n";
}

/// The text up to the end of its first sentence or clause, without the full stop.
std::string summary_of(std::string const& description) {
    std::size_t end = description.find('\n');
    for (std::string_view const stop : {". ", "; ", ": "})
        end = std::min(end, description.find(stop));
    std::string summary = description.substr(0, end);
    if (summary.ends_with('.')) summary.pop_back();
    summary[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(summary[0])));
    return summary;
}

std::string head_of(std::string const& name, std::string const& usage, std::string const& description) {
    std::string const page = page_of(name);
    return ".TH " + in_capitals(escaped(page)) + " 1 \"\" \"Sluice " + sluice_version() + "\" \"User Commands\"\n" +
           ".SH NAME\n" + escaped(page) + " \\- " + escaped(summary_of(description)) + "\n.SH SYNOPSIS\n.nf\n" +
           escaped(usage) + "\n.fi\n.SH DESCRIPTION\n" + roff_paragraphs(description);
}

std::string end_of(std::string const& name, std::string const& footer) {
    std::string notes = footer.empty() ? "" : ".SH NOTES\n" + roff_paragraphs(footer);
    std::string const above = name.substr(0, name.rfind(' '));
    if (above == name) return notes;
    return notes + ".SH SEE ALSO\n.BR " + escaped(page_of(above)) + " (1)\n";
}

}  // namespace

std::string Manual::make_help(CLI::App const* app, std::string name, CLI::AppFormatMode mode) const {
    return head_of(app->get_name(), usage_line(app, name), app->get_description()) + make_positionals(app) +
           make_groups(app, mode) + end_of(app->get_name(), app->get_footer());
}

std::string Manual::make_group(std::string group, bool is_positional, std::vector<CLI::Option const*> options) const {
    std::string roff = ".SH " + escaped(in_capitals(group)) + "\n";
    for (CLI::Option const* option : options)
        roff += make_option(option, is_positional);
    return roff;
}

std::string Manual::make_option(CLI::Option const* option, bool is_positional) const {
    OptionText const text = text_of(option, is_positional);
    return entry(text.names, text.help);
}

std::string manual_of(CommandList const& list) {
    std::string roff = head_of(list.name, list.name + " " + list.usage, list.description);
    roff += ".SH " + escaped(in_capitals(list.heading)) + "\n";
    for (CommandList::Entry const& command : list.commands)
        roff += entry(page_of(list.name + " " + std::string(command.name)) + "(1)", command.help);
    return roff + end_of(list.name, list.footer);
}

}  // namespace sluice::command_line
