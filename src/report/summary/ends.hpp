// SPDX-License-Identifier: BSD-3-Clause
/// How ranks ended that did not end in order: those of one way together, in constant size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "report/read/fate.hpp"
#include "report/summary/rank_set.hpp"
#include "report/summary/spread.hpp"

namespace sluice::report {

inline constexpr std::size_t k_kept_ends = 64;

/// The limit that a process has for itself, and the most that counted against it, in bytes; 0: it has none.
struct OwnLimit {
    std::uint64_t limit = 0;
    std::uint64_t used = 0;
    std::uint32_t is_address_space = 0;  ///< ulimit -v; else of its data, ulimit -d
    bool operator==(OwnLimit const&) const = default;
};

/// The ranks that ended in one way: by MPI_Abort with one code, with one exit code, by one signal; or how is not known.
struct EndSum {
    How how = How::unknown;
    std::optional<std::int64_t> code;
    RankSet ranks;
    Spread at_us;  ///< since the first rank entered MPI_Init
    // Of at_us.least_rank, the first of them.
    std::string function, place;  ///< the call that it was in; empty outside MPI
    OwnLimit own;
    Spread memory_kills;  ///< that the kernel did for lack of memory until their ends, as far as another rank saw it

    void add(EndSum const& other) {
        bool const is_earlier = other.at_us.least < at_us.least ||
                                (other.at_us.least == at_us.least && other.at_us.least_rank < at_us.least_rank);
        if (is_earlier) {
            function = other.function;
            place = other.place;
            own = other.own;
        }
        memory_kills.add(other.memory_kills);
        ranks.add(other.ranks);
        at_us.add(other.at_us);
    }
    bool operator==(EndSum const&) const = default;
};

}  // namespace sluice::report
