// SPDX-License-Identifier: BSD-3-Clause
/// The rows of the benchmark `overlap`, made of what its program printed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/bench/overlap/lines.hpp"
#include "cli/bench/table.hpp"

namespace sluice::cli {

/// The columns that all rows of one table share.
struct OverlapPlace {
    std::string mpi;
    std::string bed = "local";
    double rate_mbit = 0;  ///< 0: no wire
};

/// The share of the waiting that a method hides, by medians:
///
///     (blocking - method) / (blocking - max(compute, transfer))
///
/// `compute` is all work of a round without a message, `transfer` the receive without work.
struct OverlapShares {
    double blocking = 0;
    double longer = 0;   ///< of compute and transfer
    double shorter = 0;  ///< of the two
    /// What could be hidden, as a part of the blocking form's time.
    double hideable() const { return blocking > 0 ? (blocking - longer) / blocking : 0; }
    double hidden(double method) const { return (blocking - method) / (blocking - longer); }
    /// Whether that is more than noise divided by little: by the difference, and by the shorter part itself.
    bool can_be_told() const { return hideable() >= k_least_hideable && shorter >= k_least_hideable * blocking; }

    static constexpr double k_least_hideable = 0.05;
    /// A peer that hides less is nothing to divide by.
    static constexpr double k_least_of_peer = 0.2;
};

OverlapShares shares_of(OverlapRounds const& cell);

/// Returns the rows of launches under `sluice run` with this word of --overlap: for each cell a row for each method and
/// then the ratios `sluice/blocking`, `sluice_irecv/blocking`, `irecv/blocking`, `by_hand/blocking` or
/// `strips/blocking`, and `sluice/by_hand` or `sluice/strips`, and those of `sluice_irecv`, each over the pairs of one
/// launch, with `hidden` and `hidden_of_by_hand` or `hidden_of_strips`; then `blocking/blocking_plain`, the median over
/// that of launches without Sluice, which shows what its presence alone does.
std::vector<Row> cell_rows(OverlapPlace const& place, std::string const& word, OverlapLines const& under,
                           OverlapLines const& plain);

/// Returns the row of the latency of launches with this word, or without Sluice ("none"): `program/straight`.
std::vector<Row> latency_rows(OverlapPlace const& place, std::string const& word, OverlapLines const& lines);

/// Returns a row with the wake-ups of each of Sluice's threads in an idle second, summed over the ranks.
std::vector<Row> idle_rows(OverlapPlace const& place, std::string const& word, OverlapLines const& lines);

/// Returns a row with the part of the rounds for which a rank waited for a processor: other work of the machine, or the
/// helper thread, is in all figures of those launches.
std::vector<Row> delay_rows(OverlapPlace const& place, std::string const& word, OverlapLines const& lines);

}  // namespace sluice::cli
