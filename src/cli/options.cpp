#include "cli/options.hpp"

#include <algorithm>
#include <iostream>

#include "cli/command.hpp"

namespace sluice::cli {

namespace {

/// The first argument that looks like an option and is none of the app's.
void refuse_unknown_options(CLI::App const& app, std::vector<std::string> const& arguments) {
    std::vector<std::string> names;
    for (CLI::Option const* option : app.get_options())
        for (std::string const& name : option->get_lnames())
            names.push_back("--" + name);
    std::vector<std::string_view> const known(names.begin(), names.end());
    for (std::string const& argument : arguments) {
        if (argument == "--") return;
        if (!argument.starts_with("--")) continue;
        std::string const name = argument.substr(0, argument.find('='));
        if (std::find(known.begin(), known.end(), name) == known.end())
            throw unknown("option of sluice " + app.get_name(), name, known);
    }
}

}  // namespace

bool parse_options(CLI::App& app, std::vector<std::string> const& arguments) {
    refuse_unknown_options(app, arguments);
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // CLI11 takes them from the back
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
