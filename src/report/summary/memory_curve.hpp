// SPDX-License-Identifier: BSD-3-Clause
/// Memory over time: of one rank, and of all ranks of a large job as quantiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "record/record.hpp"

namespace sluice::report {

inline constexpr std::size_t k_curve_points = 300;
inline constexpr std::size_t k_time_bins = 200;

/// Returns all samples of a record in the order of time: the history up to the first sample of the ring, then the ring.
std::vector<record::Sample> samples_of(record::RankRecord const& record);

/// Returns at most `most` samples, at least 2: the time is cut into equal bins, and each keeps the sample with the most
/// resident memory; the very last sample is kept, too.
std::vector<record::Sample> thinned(std::vector<record::Sample> const& samples, std::size_t most);

/// The curve of a record with at most k_curve_points: a part of them for the last minutes, which the ring knows better,
/// the rest for the run before; the record's peak is among them.
std::vector<record::Sample> curve_of(record::RankRecord const& record);

/// Returns the most KiB that the application of a rank can have had: its peak less the least that all others had in a
/// sample of its curve.
std::uint64_t most_of_application(std::vector<record::Sample> const& curve, std::uint64_t peak_kib);

/// One figure over all ranks by time, in a size that does not depend on their number. Each rank counts once in each
/// bin, with its maximum in it; a rank that has ended no longer counts. Values are kept in eight buckets for each power
/// of two, so quantiles are right within 7 %; least and most are exact.
class OverRanks {
  public:
    struct Bin {
        std::uint32_t least = 0;  ///< KiB
        std::uint32_t most = 0;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> counts;  ///< bucket, ranks; in rising order, none is 0
        bool operator==(Bin const&) const = default;
    };

    OverRanks() = default;
    OverRanks(std::uint64_t bin_us, std::vector<Bin> bins) : bin_us_(bin_us), bins_(std::move(bins)) {}
    /// Returns a width of bins that gives a job of this duration at most k_time_bins: 2^k microseconds, so that the
    /// bins of two widths fit together.
    static std::uint64_t width_for(std::uint64_t duration_us);
    /// Returns the figure of one rank. `value` returns KiB.
    static OverRanks of(std::vector<record::Sample> const& samples, std::uint64_t bin_us,
                        std::uint32_t (*value)(record::Sample const&));

    /// Bins of two widths are brought to the wider one; a rank may then count several times in one.
    void add(OverRanks other);

    /// Returns the value, in KiB, that this part (0 … 1) of the ranks in the bin does not exceed; 0 if the bin has no
    /// rank.
    static std::uint32_t quantile(Bin const& bin, double part);
    static std::uint32_t bucket_of(std::uint32_t kib);
    static std::uint32_t middle_of(std::uint32_t bucket);

    std::uint64_t bin_us() const { return bin_us_; }
    std::vector<Bin> const& bins() const { return bins_; }
    bool operator==(OverRanks const&) const = default;

  private:
    void coarsen();

    std::uint64_t bin_us_ = 0;  ///< 0: empty
    std::vector<Bin> bins_;
};

}  // namespace sluice::report
