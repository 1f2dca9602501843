// SPDX-License-Identifier: BSD-3-Clause
/// The figures of which each rank has one, each described once: its name in report.json with its unit, its place in a
/// Summary, how it is taken from the record of a rank, and where two reports are compared, what of it, in which words.
/// Summing up, merging, writing, reading and comparing go over this list.
#pragma once

#include <cstdint>
#include <span>

#include "record/record.hpp"
#include "report/summary/summary.hpp"

namespace sluice::report {

/// A call that never returned: its time is not yet in any sum.
struct OpenCall {
    std::uint32_t site = record::k_no_site;
    std::uint64_t ns = 0;
    std::uint64_t waiting_ns = 0;  // the whole time if the call is of a kind that waits for other ranks
};

OpenCall open_call_of(record::RankRecord const& record);
/// Time in MPI_Init.
std::uint64_t init_ns_of(record::RankRecord const& record);

/// What of a figure is compared.
enum class Compare { nothing, most, mean, both };

struct Figure {
    char const* name;  ///< ends in its unit (unit.hpp)
    Spread Summary::*of_ranks;
    std::uint64_t (*of)(record::RankRecord const& record);
    char const* words = nullptr;  ///< for people; null where it is not compared
    Compare compared = Compare::nothing;
};

std::span<Figure const> figures();

}  // namespace sluice::report
