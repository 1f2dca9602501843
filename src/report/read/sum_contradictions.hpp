// SPDX-License-Identifier: BSD-3-Clause
/// Figures of a whole job that cannot all be true.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/summary/summary.hpp"

namespace sluice::report {

/// The first contradiction of each kind, in words; empty if the figures agree. What holds for every job:
///
///     memory     the owners' parts add up to the peaks; in flight at most what the application has
///     nodes      need + files <= sum of the peaks; need >= the highest peak less its files and Sluice
///     places     took at most the peak of their rank; had in flight at most what its application can have had; waited
///                at most as long as they took; freed at most what they made
///     sums       those of the places are those of the job, as far as both count the same
///     matrix     has at most what left and what came at all places
///     all        least <= mean <= most, and nothing is below 0
///
/// Parts and sums are of the same readings and agree to the byte. Two readings of one process, by which a place or a
/// node is compared with a peak, may differ by 1 MiB. Of a job that may still run the figures may change while they are
/// read: then nothing is said; and sums are compared only of a job whose ranks have all ended in order, because one
/// that was killed may have been between two stores.
std::vector<std::string> contradictions_of(Summary const& summary);

/// The line that a report shows, and that fails a test; `whose`: "rank 3", "the job".
std::string line_of_contradiction(std::string_view whose, std::string_view contradiction);

/// The lines of all contradictions of the job.
std::vector<std::string> lines_of_contradictions(Summary const& summary);

}  // namespace sluice::report
