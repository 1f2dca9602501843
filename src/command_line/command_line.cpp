// SPDX-License-Identifier: BSD-3-Clause
#include "command_line/command_line.hpp"

#include <algorithm>
#include <cctype>
#include <iostream>
#include <string_view>

#include "base/text/printable.hpp"
#include "command_line/cli11.hpp"
#include "command_line/help.hpp"
#include "command_line/manual.hpp"
#include "command_line/usage_error.hpp"

namespace sluice::command_line {

namespace {

constexpr int k_wrong_use = 2;

/// Returns all names of the options, such as "-n" and "--name".
std::vector<std::string> names_of_options(CLI::App const& app) {
    std::vector<std::string> names;
    for (CLI::Option const* option : app.get_options()) {
        for (std::string const& name : option->get_lnames())
            names.push_back("--" + name);
        for (std::string const& name : option->get_snames())
            names.push_back("-" + name);
    }
    return names;
}

/// Returns false for a negative number such as "-5".
bool looks_like_option(std::string const& argument) {
    return argument.size() > 1 && argument[0] == '-' && std::isdigit(static_cast<unsigned char>(argument[1])) == 0;
}

/// Refuses the first argument that looks like an option but is none of the app's.
void refuse_unknown_options(CLI::App const& app, std::vector<std::string> const& arguments) {
    std::vector<std::string> const names = names_of_options(app);
    for (std::string const& argument : arguments) {
        if (argument == "--") return;
        if (!looks_like_option(argument)) continue;
        std::string const name = argument.substr(0, argument.find('='));
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
        std::string const what = "option of " + app.get_name();
        if (name[1] == '-') throw unknown(what, name, std::vector<std::string_view>(names.begin(), names.end()));
        // For a short option such as "-r", the option with the same letter is suggested, not the shortest name.
        auto const same = std::find_if(names.begin(), names.end(), [&](std::string const& one) {
            return one.starts_with("-" + name.substr(0, 2));
        });
        throw UsageError("no " + what + " is called '" + name + "'; " +
                         (same != names.end() ? "did you mean '" + *same + "'?" : "--help lists them"));
    }
}

}  // namespace

CommandLine::CommandLine(std::string const& name, std::string const& description)
    : name_(name), app_(std::make_unique<CLI::App>(description, name)) {}

CommandLine::~CommandLine() = default;

template <Value T>
Option CommandLine::option(std::string const& name, T& value, std::string const& help) {
    bool const is_text = std::same_as<T, std::string> || std::same_as<T, std::vector<std::string>>;
    return Option(app_->add_option(name, value, help)->type_name(is_text ? "WORD" : "N"));
}

template Option CommandLine::option(std::string const& name, std::string& value, std::string const& help);
template Option CommandLine::option(std::string const& name, int& value, std::string const& help);
template Option CommandLine::option(std::string const& name, unsigned& value, std::string const& help);
template Option CommandLine::option(std::string const& name, std::uint64_t& value, std::string const& help);
template Option CommandLine::option(std::string const& name, double& value, std::string const& help);
template Option CommandLine::option(std::string const& name, std::vector<std::string>& value, std::string const& help);
template Option CommandLine::option(std::string const& name, std::vector<int>& value, std::string const& help);
template Option CommandLine::option(std::string const& name, std::vector<std::uint64_t>& value,
                                    std::string const& help);

void CommandLine::flag(std::string const& name, bool& is_given, std::string const& help) {
    app_->add_flag(name, is_given, help);
}

void CommandLine::put_help_here(std::string const& help) {
    app_->set_help_flag("-h,--help", help);
}

void CommandLine::set_footer(std::string const& footer) {
    app_->footer(footer);
}

bool CommandLine::parse(std::vector<std::string> const& arguments) {
    bool const is_manual = arguments.size() == 1 && arguments.front() == k_manual_option;
    std::shared_ptr<Help> const layout = is_manual ? std::make_shared<Manual>(usage_) : std::make_shared<Help>(usage_);
    layout->label("Positionals", "Arguments");
    app_->formatter(layout);
    if (is_manual) {
        std::cout << app_->help();
        return false;
    }
    refuse_unknown_options(*app_, arguments);
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // CLI11 takes them from the end
    try {
        app_->parse(reversed);
        return true;
    } catch (CLI::CallForHelp const&) {
        std::cout << app_->help();
        return false;
    } catch (CLI::ParseError const& error) {
        throw UsageError(error.what());
    }
}

std::optional<int> CommandLine::parse_main(int argc, char** argv) {
    try {
        if (!parse(std::vector<std::string>(argv + 1, argv + argc))) return 0;
    } catch (UsageError const& error) {
        std::cerr << name_ << ": " << base::printable(error.what()) << std::endl;
        return k_wrong_use;
    }
    return std::nullopt;
}

bool CommandLine::has(std::string const& option) const {
    return app_->count(option) > 0;
}

}  // namespace sluice::command_line
