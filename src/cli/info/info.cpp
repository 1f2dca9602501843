// SPDX-License-Identifier: BSD-3-Clause
// `sluice info`: the parts of this installation and its settings.
#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text/printable.hpp"
#include "base/units.hpp"
#include "budget/adaptation.hpp"
#include "cli/info/probing.hpp"
#include "cli/info/setting_options.hpp"
#include "cli/info/setting_origins.hpp"
#include "cli/support/command.hpp"
#include "cli/support/installation.hpp"
#include "command_line/command_line.hpp"
#include "sluice/budget.hpp"

namespace sluice::cli {

namespace {

using Row = nlohmann::ordered_json;
using base::printable;

std::vector<MpiBuild> builds_to_show() {
    std::vector<MpiBuild> shown;
    for (MpiBuild const& build : mpi_builds())
        if (build.name != "mpi" || !build.library.empty()) shown.push_back(build);
    return shown;
}

/// The lines about memory.
struct Memory {
    MemoryLimit limit;
    budget::Adaptation::Account account;
    bool reserve_was_set;
    std::optional<Probing> probing;
};

void print_memory(Memory const& memory) {
    using base::format_bytes;
    budget::Adaptation::Account const& account = memory.account;
    fmt::print("\nmemory\n  limit of a process   {}, from {}\n  held by this one     {}\n",
               format_bytes(memory.limit.limit), printable(memory.limit.source), format_bytes(memory.limit.used));
    fmt::print("  M                    {}, from {}\n", format_bytes(account.m), printable(account.source));
    fmt::print("  M_A                  {}, used of it by programs, without file pages that the kernel can drop\n",
               format_bytes(account.m_a));
    fmt::print("  reserve              {}, {}\n", format_bytes(account.reserve),
               account.source == "setting" ? "none below a limit of your own"
               : memory.reserve_was_set    ? "SLUICE_MEMORY_RESERVE"
                                           : "a 64th of M, at least 1 MiB and at most 256 MiB");
    fmt::print("  M_C                  {} = M - M_A - reserve: for communication, of all processes together\n",
               format_bytes(account.m_c));
    if (!memory.probing) return;
    fmt::print("  by probing           {} in addition to M_A, of {} that were touched; {}\n",
               format_bytes(memory.probing->resident), format_bytes(memory.probing->touched),
               text_of(memory.probing->end));
}

void print_text(std::vector<SettingOrigin> const& settings, Memory const& memory) {
    fmt::print("sluice {}\n\nlibraries\n", SLUICE_VERSION);
    for (MpiBuild const& build : builds_to_show())
        fmt::print("  {:<10} {:<40} {}\n", build.name,
                   build.library.empty() ? "not built" : build.library.filename().string(),
                   build.launcher.empty() ? "no launcher in PATH" : "launcher " + printable(build.launcher.string()));
    fmt::print("\nsettings (environment variables; * marks what is not the default)\n");
    for (SettingOrigin const& setting : settings)
        fmt::print("{} {:<30} {:<10} {:<12} default {:<10} {:<18} {}\n",
                   setting.value == setting.row.default_text ? ' ' : '*', setting.row.variable,
                   printable(setting.value), printable(setting.origin), setting.row.default_text, range_of(setting.row),
                   setting.row.help);
    print_memory(memory);
}

void print_rows(std::vector<SettingOrigin> const& settings, Memory const& memory) {
    // The value of a variable need not be UTF-8.
    auto const print = [](Row const& row) {
        std::cout << printable(row.dump(-1, ' ', false, Row::error_handler_t::replace)) << "\n";
    };
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
        if (!setting.row.words.empty()) row["words"] = setting.row.words;
        row["help"] = setting.row.help;
        print(row);
    }
    print(Row{{"info", "memory"},
              {"limit_bytes", memory.limit.limit.count},
              {"used_bytes", memory.limit.used.count},
              {"source", memory.limit.source}});
    print(Row{{"info", "communication"},
              {"m_bytes", memory.account.m.count},
              {"m_a_bytes", memory.account.m_a.count},
              {"reserve_bytes", memory.account.reserve.count},
              {"m_c_bytes", memory.account.m_c.count},
              {"source", memory.account.source}});
    if (memory.probing)
        print(Row{{"info", "probing"},
                  {"touched_bytes", memory.probing->touched.count},
                  {"resident_bytes", memory.probing->resident.count},
                  {"end", text_of(memory.probing->end)}});
}

/// Returns the account that a process started now would see.
budget::Adaptation::Account account_of(Settings const& settings) {
    budget::Adaptation::Options options;
    options.memory = settings.memory;
    options.node_memory = settings.node_memory;
    options.reserve = settings.memory_reserve;
    options.share = false;
    return budget::Adaptation(options).account();
}

}  // namespace

int run_info(std::vector<std::string> const& arguments) {
    command_line::CommandLine line(
        "sluice info",
        "Prints the version, the builds next to this command, the memory limit, and every setting: its value, where "
        "that came from, default, range and help. With settings as options: what would apply with them");
    bool json = false;
    line.flag("--json", json, "one JSON object on each line");
    bool probe = false;
    line.flag("--probe", probe,
              "also touches memory until it does not stay resident, and tells how much that was. Puts the node under "
              "pressure: do not use it while programs run that matter");
    std::string probe_most;
    line.option("--probe-most", probe_most, "with --probe: touch no more than that (all of M)").value_name("BYTES");
    int probe_seconds = 20;
    line.option("--probe-seconds", probe_seconds, "with --probe: and for no longer").between(1, 3600).shows_default();
    std::map<std::string, std::string> texts;
    for (SettingRow const& row : setting_rows())
        line.option(option_of(row), texts[std::string(row.name)], std::string(row.help)).value_name(value_name_of(row));
    if (!line.parse(arguments)) return 0;
    std::map<std::string, std::string> given;
    Settings applied = Settings::from_environment();
    for (SettingRow const& row : setting_rows()) {
        if (!line.has(option_of(row))) continue;
        std::string const name(row.name);
        given[name] = texts[name];
        set_by_option(applied, row, texts[name]);
    }
    std::vector<SettingOrigin> const settings = setting_origins(given);
    Memory memory{detect_memory_limit(applied.memory), account_of(applied), applied.memory_reserve.count != 0, {}};
    if (probe)
        memory.probing = probe_memory(probe_most.empty() ? memory.account.m : base::parse_bytes(probe_most),
                                      std::chrono::seconds(probe_seconds));
    if (json)
        print_rows(settings, memory);
    else
        print_text(settings, memory);
    return 0;
}

}  // namespace sluice::cli
