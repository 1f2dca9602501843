// SPDX-License-Identifier: BSD-3-Clause
#include "report/summary/valid.hpp"

#include <algorithm>

#include "base/text/printable.hpp"

namespace sluice::report {

std::string fault_of(record::RankHead const& head) {
    if (head.used != 1) return "its head was never completed: its rank did not return from MPI_Init";
    if (head.world_size == 0 || head.world_size > k_most_ranks)
        return "it names a job of " + std::to_string(head.world_size) + " ranks";
    if (head.world_rank >= head.world_size)
        return "it is of rank " + std::to_string(head.world_rank) + " of " + std::to_string(head.world_size);
    if (static_cast<std::uint32_t>(head.state) > static_cast<std::uint32_t>(record::State::unknown))
        return "its state is " + std::to_string(static_cast<std::uint32_t>(head.state));
    if (head.sites > record::k_sites)
        return "it names " + std::to_string(head.sites) + " call sites of at most " + std::to_string(record::k_sites);
    if (head.comms > record::k_comms)
        return "it names " + std::to_string(head.comms) + " communicators of at most " +
               std::to_string(record::k_comms);
    if (head.history > record::k_history)
        return "it names " + std::to_string(head.history) + " samples of at most " + std::to_string(record::k_history);
    if (head.counters > record::k_counters)
        return "it names " + std::to_string(head.counters) + " counters of at most " +
               std::to_string(record::k_counters);
    return {};
}

std::string clean_text(char const* text, std::size_t room) {
    return base::printable({text, static_cast<std::size_t>(std::find(text, text + room, '\0') - text)});
}

record::PeakSeen checked(record::PeakSeen seen) {
    return seen > record::PeakSeen::before_init ? record::PeakSeen::at_sample : seen;
}

std::size_t kind_index(record::Kind kind) {
    auto const index = static_cast<std::size_t>(kind);
    return index <= static_cast<std::size_t>(record::Kind::file) ? index : 0;
}

}  // namespace sluice::report
