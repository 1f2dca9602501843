// SPDX-License-Identifier: BSD-3-Clause
#include "report/summary/valid.hpp"

#include <algorithm>

namespace sluice::report {

std::string fault_of(record::RankHead const& head) {
    if (head.used != 1) return "its head was never completed: its rank did not return from MPI_Init";
    if (head.world_size == 0 || head.world_size > k_most_ranks)
        return "it names a job of " + std::to_string(head.world_size) + " ranks";
    if (head.world_rank >= head.world_size)
        return "it is of rank " + std::to_string(head.world_rank) + " of " + std::to_string(head.world_size);
    if (static_cast<std::uint32_t>(head.state) > static_cast<std::uint32_t>(record::State::unknown))
        return "its state is " + std::to_string(static_cast<std::uint32_t>(head.state));
    if (head.sites > record::k_sites) return "it names " + std::to_string(head.sites) + " call sites of at most 256";
    if (head.comms > record::k_comms) return "it names " + std::to_string(head.comms) + " communicators of at most 256";
    if (head.history > record::k_history)
        return "it names " + std::to_string(head.history) + " samples of at most 1024";
    if (head.counters > record::k_counters)
        return "it names " + std::to_string(head.counters) + " counters of at most 32";
    return {};
}

namespace {

/// Returns the length of the UTF-8 sequence at `s`, or 0 if there is none. Overlong forms and surrogates are invalid.
std::size_t sequence(unsigned char const* s, std::size_t left) {
    auto const follows = [&](std::size_t i) { return i < left && (s[i] & 0xc0) == 0x80; };
    if (s[0] < 0x80) return s[0] >= 0x20 && s[0] != 0x7f ? 1 : 0;
    if (s[0] >= 0xc2 && s[0] <= 0xdf) return follows(1) ? 2 : 0;
    if (s[0] >= 0xe0 && s[0] <= 0xef) {
        bool const canonical = !(s[0] == 0xe0 && left > 1 && s[1] < 0xa0) && !(s[0] == 0xed && left > 1 && s[1] > 0x9f);
        return follows(1) && follows(2) && canonical ? 3 : 0;
    }
    if (s[0] >= 0xf0 && s[0] <= 0xf4) {
        bool const canonical = !(s[0] == 0xf0 && left > 1 && s[1] < 0x90) && !(s[0] == 0xf4 && left > 1 && s[1] > 0x8f);
        return follows(1) && follows(2) && follows(3) && canonical ? 4 : 0;
    }
    return 0;
}

}  // namespace

std::string clean_text(char const* text, std::size_t room) {
    std::size_t const length = static_cast<std::size_t>(std::find(text, text + room, '\0') - text);
    auto const* const bytes = reinterpret_cast<unsigned char const*>(text);
    std::string result;
    for (std::size_t i = 0; i < length;) {
        std::size_t const taken = sequence(bytes + i, length - i);
        if (taken == 0)
            result += '?';
        else
            result.append(text + i, taken);
        i += std::max<std::size_t>(taken, 1);
    }
    return result;
}

std::size_t kind_index(record::Kind kind) {
    auto const index = static_cast<std::size_t>(kind);
    return index <= static_cast<std::size_t>(record::Kind::file) ? index : 0;
}

}  // namespace sluice::report
