// SPDX-License-Identifier: BSD-3-Clause
#include "cli/support/options.hpp"

#include <algorithm>
#include <cctype>
#include <iostream>
#include <memory>

#include "cli/support/command.hpp"
#include "cli/support/help.hpp"

namespace sluice::cli {

namespace {

/// Returns all names of the app's options, such as "-n" and "--name".
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
        std::string const what = "option of sluice " + app.get_name();
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

bool parse_options(CLI::App& app, std::vector<std::string> const& arguments, std::string const& usage) {
    app.formatter(std::make_shared<Help>(usage));
    refuse_unknown_options(app, arguments);
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // CLI11 takes them from the end
    try {
        app.parse(reversed);
        return true;
    } catch (CLI::CallForHelp const&) {
        std::cout << app.help();
        return false;
    } catch (CLI::ParseError const& error) {
        throw UsageError(error.what());
    }
}

}  // namespace sluice::cli
