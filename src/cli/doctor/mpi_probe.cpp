// SPDX-License-Identifier: BSD-3-Clause
#include "cli/doctor/mpi_probe.hpp"

#include <fmt/format.h>

#include "cli/support/launch.hpp"
#include "cli/support/local_ranks.hpp"

namespace sluice::cli {

namespace {
constexpr int k_limit_seconds = 60;
}

nlohmann::json ask_mpi(MpiBuild const& build, std::string& why) {
    auto const program = program_for(build.name, "sluice-probe-mpi");
    if (!program) {
        why = "sluice-probe-mpi is not next to this command";
        return nullptr;
    }
    std::vector<std::string> command = local_launcher(build.name, 1);
    command.push_back(program->string());
    nlohmann::json said;
    Ended const ended = launch(command, local_environment(), k_limit_seconds, [&](std::string const& line) {
        nlohmann::json row = nlohmann::json::parse(line, nullptr, false);
        if (row.is_object() && row.contains("provided")) said = row;
    });
    if (ended.code == 0 && !said.is_null()) return said;
    why = ended.silent ? fmt::format("one rank printed nothing for {} seconds", k_limit_seconds)
                       : fmt::format("one rank ended with code {}: {}", ended.code,
                                     ended.complaints.substr(0, ended.complaints.find('\n')));
    return nullptr;
}

}  // namespace sluice::cli
