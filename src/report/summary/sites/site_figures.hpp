// SPDX-License-Identifier: BSD-3-Clause
/// The figures of a place, each described once: its name in report.json with its unit, its place in a SiteSum, how it
/// is taken from a rank's record, how two places of one rank add up, and what of it the page's table of places shows,
/// under which head. Summing up, merging, writing, reading and the page go over this list.
#pragma once

#include <array>
#include <cstdint>

#include "record/record.hpp"
#include "report/summary/summary.hpp"

namespace sluice::report {

enum class Of { sum, most };

/// What the page shows of a figure of a place: its part of all ranks' time, the sum, or the most of a rank.
enum class Shown { nowhere, part_of_time, sum, most };

/// A figure that each rank has one of: least, mean and most over the ranks.
struct SpreadOfSite {
    char const* name;
    Spread SiteSum::*spread;
    std::uint64_t (*of)(record::Site const& site);
    Of same_rank = Of::sum;  ///< of two places of one rank
    Shown shown = Shown::nowhere;
    char const* head = nullptr;  ///< of the column
};

inline constexpr std::array k_spreads_of_site{
    SpreadOfSite{"time_ns", &SiteSum::time_ns, [](record::Site const& s) { return s.time_ns; }, Of::sum,
                 Shown::part_of_time, "Time"},
    SpreadOfSite{"waiting_ns", &SiteSum::waiting_ns, [](record::Site const& s) { return s.waiting_ns; }, Of::sum,
                 Shown::part_of_time, "Waiting"},
    SpreadOfSite{"hidden_ns", &SiteSum::hidden_ns, [](record::Site const& s) { return s.hidden_ns; }, Of::sum,
                 Shown::sum, "Hidden"},
    SpreadOfSite{"left_ns", &SiteSum::left_ns, [](record::Site const& s) { return s.left_ns; }},
    SpreadOfSite{"moving_ns", &SiteSum::moving_ns, [](record::Site const& s) { return s.moving_ns; }},
    SpreadOfSite{"longest_ns", &SiteSum::longest_ns, [](record::Site const& s) { return s.longest_ns; }, Of::most,
                 Shown::most, "Longest"},
    SpreadOfSite{"bytes", &SiteSum::bytes, [](record::Site const& s) { return s.bytes_out + s.bytes_in; }, Of::sum,
                 Shown::sum, "Bytes"},
    SpreadOfSite{"in_flight_bytes", &SiteSum::in_flight, [](record::Site const& s) { return s.in_flight_peak; },
                 Of::most, Shown::most, "In flight"},
    SpreadOfSite{"new_bytes", &SiteSum::new_bytes, [](record::Site const& s) { return s.new_bytes; }},
    SpreadOfSite{"grown_bytes", &SiteSum::grown, [](record::Site const& s) { return s.grown_private + s.grown_shared; },
                 Of::sum, Shown::most, "MPI grew"},
    SpreadOfSite{"grown_own_bytes", &SiteSum::grown_own, [](record::Site const& s) { return s.grown_own; }},
    SpreadOfSite{"left", &SiteSum::left,
                 [](record::Site const& s) { return s.made > s.freed ? s.made - s.freed : std::uint64_t{0}; }},
};

/// A figure that is added up over all ranks.
struct SumOfSite {
    char const* name;
    std::uint64_t SiteSum::*sum;
    std::uint64_t record::Site::*of;
    char const* head = nullptr;  ///< of the column, if the page shows the sum
};

inline constexpr std::array k_sums_of_site{
    SumOfSite{"calls", &SiteSum::calls, &record::Site::calls, "Calls"},
    SumOfSite{"bytes_out", &SiteSum::bytes_out, &record::Site::bytes_out},
    SumOfSite{"bytes_in", &SiteSum::bytes_in, &record::Site::bytes_in},
    SumOfSite{"unplaced_bytes", &SiteSum::unplaced_bytes, &record::Site::unplaced_bytes},
    SumOfSite{"in_place", &SiteSum::in_place, &record::Site::in_place},
    SumOfSite{"other_buffers", &SiteSum::other_buffers, &record::Site::other_buffers},
    SumOfSite{"estimated_bytes", &SiteSum::estimated, &record::Site::estimated},
    SumOfSite{"made", &SiteSum::made, &record::Site::made},
    SumOfSite{"deferred", &SiteSum::deferred, &record::Site::deferred},
};

}  // namespace sluice::report
