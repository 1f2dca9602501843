// `sluice info`: what this installation is and how it is set.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "base/units.hpp"
#include "cli/command.hpp"
#include "cli/installation.hpp"
#include "cli/options.hpp"
#include "cli/setting_options.hpp"
#include "cli/setting_origins.hpp"
#include "sluice/budget.hpp"

namespace sluice::cli {

namespace {

using Row = nlohmann::ordered_json;

std::vector<MpiBuild> builds_to_show() {
    std::vector<MpiBuild> shown;
    for (MpiBuild const& build : mpi_builds())
        if (build.name != "mpi" || !build.library.empty()) shown.push_back(build);
    return shown;
}

void print_text(std::vector<SettingOrigin> const& settings, MemoryLimit const& memory) {
    fmt::print("sluice {}\n\nlibraries\n", SLUICE_VERSION);
    for (MpiBuild const& build : builds_to_show())
        fmt::print("  {:<10} {:<40} {}\n", build.name,
                   build.library.empty() ? "not built" : build.library.filename().string(),
                   build.launcher.empty() ? "no launcher in PATH" : "launcher " + build.launcher.string());
    fmt::print("\nsettings (environment variables; * marks what is not the default)\n");
    for (SettingOrigin const& setting : settings)
        fmt::print("{} {:<30} {:<10} {:<12} default {:<10} {:<18} {}\n",
                   setting.value == setting.row.default_text ? ' ' : '*', setting.row.variable, setting.value,
                   setting.origin, setting.row.default_text, range_of(setting.row), setting.row.help);
    fmt::print("\nmemory\n  limit of a process   {}, from {}\n  held by this one     {}\n",
               base::format_bytes(memory.limit), memory.source, base::format_bytes(memory.used));
}

void print_rows(std::vector<SettingOrigin> const& settings, MemoryLimit const& memory) {
    auto const print = [](Row const& row) { std::cout << row.dump() << "\n"; };
    print(Row{{"info", "version"}, {"value", SLUICE_VERSION}});
    for (MpiBuild const& build : builds_to_show())
        print(Row{{"info", "library"},
                  {"mpi", build.name},
                  {"library", build.library.string()},
                  {"launcher", build.launcher.string()}});
    for (SettingOrigin const& setting : settings) {
        Row row{{"info", "setting"},       {"name", setting.row.name}, {"variable", setting.row.variable},
                {"value", setting.value},  {"origin", setting.origin}, {"default", setting.row.default_text},
                {"kind", setting.row.kind}};
        if (setting.row.kind == "bytes" || setting.row.kind == "count") {
            row["least"] = setting.row.least;
            row["most"] = setting.row.most;
        }
        row["help"] = setting.row.help;
        print(row);
    }
    print(Row{{"info", "memory"},
              {"limit_bytes", memory.limit.count},
              {"used_bytes", memory.used.count},
              {"source", memory.source}});
}

}  // namespace

int run_info(std::vector<std::string> const& arguments) {
    CLI::App app(
        "Prints the version, the builds beside this command, the memory limit, and every setting: its value, where "
        "that "
        "came from, default, range and help. With settings as options: what would apply with them",
        "info");
    bool json = false;
    app.add_flag("--json", json, "one JSON object a line");
    std::map<std::string, std::string> texts;
    for (SettingRow const& row : setting_rows())
        app.add_option(option_of(row), texts[std::string(row.name)], std::string(row.help))
            ->type_name(value_name_of(row));
    if (!parse_options(app, arguments)) return 0;
    std::map<std::string, std::string> given;
    Settings applied = Settings::from_environment();
    for (SettingRow const& row : setting_rows()) {
        if (app.count(option_of(row)) == 0) continue;
        std::string const name(row.name);
        given[name] = texts[name];
        set_by_option(applied, row, texts[name]);
    }
    std::vector<SettingOrigin> const settings = setting_origins(given);
    MemoryLimit const memory = detect_memory_limit(applied.memory);
    if (json)
        print_rows(settings, memory);
    else
        print_text(settings, memory);
    return 0;
}

}  // namespace sluice::cli
