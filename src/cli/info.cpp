// `sluice info`: what this installation is and how it is set.
#include <fmt/format.h>

#include "base/units.hpp"
#include "cli/command.hpp"
#include "cli/installation.hpp"
#include "cli/options.hpp"
#include "sluice/budget.hpp"
#include "sluice/settings.hpp"

namespace sluice::cli {

namespace {

void print_builds() {
    fmt::print("\nlibraries\n");
    for (MpiBuild const& build : mpi_builds()) {
        if (build.name == "mpi" && build.library.empty()) continue;
        fmt::print("  {:<10} {:<40} {}\n", build.name,
                   build.library.empty() ? "not built" : build.library.filename().string(),
                   build.launcher.empty() ? "no launcher in PATH" : "launcher " + build.launcher.string());
    }
}

std::string range_of(SettingRow const& row) {
    if (row.kind == "word") return "a word";
    if (row.kind == "path") return "a path";
    if (row.kind == "bytes")
        return fmt::format("{} … {}", base::exact_bytes(Bytes{row.least}), base::exact_bytes(Bytes{row.most}));
    return fmt::format("{} … {}", row.least, row.most);
}

void print_settings(Settings const& settings) {
    fmt::print("\nsettings (environment variables; * marks what is not the default)\n");
    for (SettingRow const& row : setting_rows()) {
        std::string const value = settings.get(row.name);
        bool const changed = value != Settings().get(row.name);
        fmt::print("{} {:<30} {:<10} default {:<10} {:<18} {}\n", changed ? '*' : ' ', row.variable, value,
                   Settings().get(row.name), range_of(row), row.help);
    }
}

void print_memory(Settings const& settings) {
    MemoryLimit const memory = detect_memory_limit(settings.memory);
    fmt::print("\nmemory\n  limit of a process   {}, from {}\n  held by this one     {}\n",
               base::format_bytes(memory.limit), memory.source, base::format_bytes(memory.used));
}

}  // namespace

int run_info(std::vector<std::string> const& arguments) {
    CLI::App app("Prints the version, the builds beside this command, the settings and the memory limit", "info");
    if (!parse_options(app, arguments)) return 0;
    Settings const settings = Settings::from_environment();
    fmt::print("sluice {}\n", SLUICE_VERSION);
    print_builds();
    print_settings(settings);
    print_memory(settings);
    return 0;
}

}  // namespace sluice::cli
