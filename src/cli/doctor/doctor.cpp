// SPDX-License-Identifier: BSD-3-Clause
// `sluice doctor`: what this machine and its MPIs allow, what that means and how to change it. The groups are files in
// doctor/.
#include <fmt/format.h>

#include <array>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/text/printable.hpp"
#include "cli/doctor/calibrate.hpp"
#include "cli/doctor/finding.hpp"
#include "cli/support/command.hpp"
#include "command_line/command_line.hpp"

namespace sluice::cli {

namespace {

constexpr std::size_t k_groups = 8;

std::array<Group, k_groups> const& groups() {
    static std::array<Group, k_groups> const all{{{"one copy inside a node", look_at_single_copy},
                                                  {"userfaultfd", look_at_userfaultfd},
                                                  {"memory limits", look_at_memory_limits},
                                                  {"locked memory", look_at_locked_memory},
                                                  {"huge pages", look_at_pages},
                                                  {"shared memory", look_at_shared_memory},
                                                  {"MPI", look_at_mpis},
                                                  {"test beds", look_at_beds}}};
    return all;
}

char const* name_of(Health health) {
    switch (health) {
        case Health::ok:
            return "ok";
        case Health::limited:
            return "limited";
        case Health::missing:
            return "missing";
        case Health::fact:
            return "fact";
    }
    return "";
}

/// Names of files and mounts may hold any bytes.
Finding shown(Finding const& finding) {
    using base::printable;
    return {finding.health, printable(finding.what), printable(finding.value), printable(finding.means),
            printable(finding.change)};
}

void print_row(std::string const& group, Finding const& finding) {
    nlohmann::ordered_json const row{
        {"doctor", group},        {"what", finding.what},   {"health", name_of(finding.health)},
        {"value", finding.value}, {"means", finding.means}, {"change", finding.change}};
    std::cout << row.dump() << std::endl;
}

void print_lines(Finding const& finding) {
    char const* const mark = finding.health == Health::fact ? "" : name_of(finding.health);
    fmt::print("  {:<8} {}: {}\n           {}\n", mark, finding.what, finding.value, finding.means);
    if (!finding.change.empty()) fmt::print("           change: {}\n", finding.change);
    std::fflush(stdout);
}

}  // namespace

int run_doctor(std::vector<std::string> const& arguments) {
    command_line::CommandLine line(
        "sluice doctor", "Tries what this machine and its MPIs allow; says what it means and how to change it");
    bool json = false;
    bool calibrates = false;
    line.flag("--json", json, "one JSON object on each line");
    line.flag(
        "--calibrate", calibrates,
        "in place of that: measures, in about ten seconds, what strategy auto chooses by, and keeps it for this user");
    if (!line.parse(arguments)) return 0;
    if (calibrates) return calibrate(json);
    std::array<int, 4> counts{};
    for (Group const& group : groups()) {
        if (!json) fmt::print("{}\n", group.name);
        for (Finding const& found : group.look()) {
            Finding const finding = shown(found);
            ++counts.at(static_cast<std::size_t>(finding.health));
            if (json)
                print_row(group.name, finding);
            else
                print_lines(finding);
        }
    }
    if (!json)
        fmt::print("{} ok, {} limited, {} missing\n", counts[static_cast<std::size_t>(Health::ok)],
                   counts[static_cast<std::size_t>(Health::limited)],
                   counts[static_cast<std::size_t>(Health::missing)]);
    return 0;
}

}  // namespace sluice::cli
