// SPDX-License-Identifier: BSD-3-Clause
/// Says which rank ended first, and how; and how the others did that did not end in order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/summary/summary.hpp"

namespace sluice::report {

/// If one process ends the job, the ranks end together; if one rank ends, most launchers need longer than this to end
/// the others. Last signs of life are as exact as this: samples are 0.1 s apart.
inline constexpr std::uint64_t k_at_once_us = 300'000;

/// The first rank of which it is known how it ended.
struct FirstEnd {
    EndSum const* sum;  ///< its rank is at_us.least_rank
    bool is_signal(std::int64_t number) const { return sum->how == How::killed && sum->code == number; }
};

/// Nothing if all ranks ended in order or live, or if of none of the others it is known how it ended.
std::optional<FirstEnd> first_end(Summary const& summary);

/// Returns "signal 11 (segmentation fault)", "exit code 3 without MPI_Finalize", "MPI_Abort(42)" or "how is not known
/// here". `code`: as RankEnd has it.
std::string way_text(How how, std::optional<std::int64_t> code);

/// Room for the longest of these.
using WayRoom = std::array<char, 64>;

/// The same in `room`, or in memory that lives as long as the process. Allocates nothing.
std::string_view way_text(How how, std::optional<std::int64_t> code, WayRoom& room);

/// Returns "Rank 1 ended first, by signal 11 (segmentation fault)"; empty without a first end.
std::string short_first_end(Summary const& summary);

/// Returns a few sentences, that on the first rank at the beginning; empty without a first end.
std::vector<std::string> about_ends(Summary const& summary);

}  // namespace sluice::report
