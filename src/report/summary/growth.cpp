// SPDX-License-Identifier: BSD-3-Clause
#include "report/summary/growth.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace sluice::report {

namespace {

constexpr std::size_t k_fewest_samples = 6;
constexpr std::uint64_t k_least_kib = 1024;

std::uint32_t value_at(std::vector<record::Sample> const& samples, std::uint64_t time_us, Owner owner) {
    auto const after =
        std::upper_bound(samples.begin(), samples.end(), time_us,
                         [](std::uint64_t time, record::Sample const& sample) { return time < sample.time_us; });
    return part_of(after == samples.begin() ? samples.front() : *std::prev(after), owner);
}

bool is_steady(std::vector<record::Sample> const& samples, std::size_t begin, Owner owner) {
    std::uint64_t const low = part_of(samples[begin], owner);
    std::uint64_t const high = part_of(samples.back(), owner);
    if (high < low + k_least_kib || (high - low) * 20 < samples.back().resident) return false;
    std::uint64_t const from = samples[begin].time_us;
    std::uint64_t const span = samples.back().time_us - from;
    std::uint64_t before = low;
    for (std::uint64_t quarter = 1; quarter <= 4; ++quarter) {
        std::uint64_t const now = quarter == 4 ? high : value_at(samples, from + span / 4 * quarter, owner);
        if (now < before || (now - before) * 10 < high - low) return false;
        before = now;
    }
    return true;
}

/// Returns the index of the last moment at which the memory was still near its value at `begin`.
std::size_t where_it_began(std::vector<record::Sample> const& samples, std::size_t begin, Owner owner) {
    std::uint64_t const low = part_of(samples[begin], owner);
    std::uint64_t const rise = part_of(samples.back(), owner) - low;
    std::size_t result = begin;
    for (std::size_t i = begin; i < samples.size(); ++i)
        if (part_of(samples[i], owner) <= low + rise / 50) result = i;
    return result;
}

}  // namespace

char const* name_of(Owner owner) {
    switch (owner) {
        case Owner::application:
            return "the application's memory";
        case Owner::mpi_private:
            return "MPI's private memory";
        case Owner::mpi_shared:
            return "MPI's shared memory";
        case Owner::files:
            return "memory of libraries and mapped files";
        case Owner::sluice:
            return "Sluice's memory";
    }
    return "memory";
}

std::uint32_t part_of(record::Sample const& sample, Owner owner) {
    switch (owner) {
        case Owner::mpi_private:
            return sample.mpi_private;
        case Owner::mpi_shared:
            return sample.mpi_shared;
        case Owner::files:
            return sample.files;
        case Owner::sluice:
            return sample.sluice;
        case Owner::application:
            break;
    }
    std::uint64_t const others = std::uint64_t{sample.mpi_private} + sample.mpi_shared + sample.files + sample.sluice;
    return others > sample.resident ? 0 : static_cast<std::uint32_t>(sample.resident - others);
}

std::optional<Growth> steady_growth(std::vector<record::Sample> const& samples, Owner owner) {
    if (samples.size() < k_fewest_samples) return std::nullopt;
    for (std::size_t begin = 0; begin + k_fewest_samples <= samples.size(); ++begin) {
        if (!is_steady(samples, begin, owner)) continue;
        std::size_t const since = where_it_began(samples, begin, owner);
        return Growth{samples[since].time_us, samples.back().time_us, part_of(samples[since], owner),
                      part_of(samples.back(), owner)};
    }
    return std::nullopt;
}

std::optional<Growth> climb(std::vector<record::Sample> const& samples, Owner owner) {
    if (auto const steady = steady_growth(samples, owner)) return steady;
    if (samples.size() < k_fewest_samples) return std::nullopt;
    auto const value = [owner](record::Sample const& sample) { return std::uint64_t{part_of(sample, owner)}; };
    auto const ends =
        std::minmax_element(samples.begin(), samples.end(),
                            [&value](record::Sample const& a, record::Sample const& b) { return value(a) < value(b); });
    std::uint64_t const least = value(*ends.first);
    std::uint64_t const most = value(*ends.second);
    std::uint64_t const slack = (most - least) / 50;
    if (value(samples.back()) + slack < most) return std::nullopt;  // it fell again
    // Standing: no sample up to the end is lower.
    auto stands = samples.end() - 1;
    while (stands != samples.begin() && value(*(stands - 1)) + slack >= value(samples.back()))
        --stands;
    std::vector<record::Sample> until(samples.begin(), stands + 1);
    if (auto const steady = steady_growth(until, owner))
        return Growth{steady->since_us, steady->until_us, steady->from_kib, value(samples.back())};
    // Quicker than a few samples: from the last that held half as much or less.
    auto const low = std::find_if(until.rbegin(), until.rend(), [&](record::Sample const& sample) {
        return (value(sample) - least) * 2 <= value(until.back()) - least;
    });
    if (low == until.rend()) return std::nullopt;
    std::uint64_t const rise = value(until.back()) - value(*low);
    if (rise < k_least_kib || rise * 20 < until.back().resident) return std::nullopt;
    return Growth{low->time_us, until.back().time_us, value(*low), value(samples.back())};
}

std::vector<std::uint64_t> sampled_growth(std::vector<record::Sample> const& samples,
                                          std::vector<SampledSite> const& sites) {
    std::vector<std::int64_t> in_long(sites.size(), 0), in_short(sites.size(), 0);
    auto const of_mpi = [](record::Sample const& s) { return std::int64_t{s.mpi_private} + s.mpi_shared; };
    for (std::size_t i = 1; i < samples.size(); ++i) {
        // Growth between two calls belongs to the call before.
        std::uint32_t const site = samples[i].site != record::k_no_site ? samples[i].site : samples[i - 1].site;
        if (site >= sites.size()) continue;
        std::uint64_t const between = samples[i].time_us - std::min(samples[i - 1].time_us, samples[i].time_us);
        bool const is_long = 2 * sites[site].mean_us >= between;
        (is_long ? in_long : in_short)[site] += of_mpi(samples[i]) - of_mpi(samples[i - 1]);
    }
    std::int64_t const left =
        samples.empty() ? 0 : std::max<std::int64_t>(0, of_mpi(samples.back()) - of_mpi(samples.front()));
    std::vector<std::uint64_t> result(sites.size(), 0);
    for (std::size_t i = 0; i < sites.size(); ++i) {
        std::uint64_t const most = std::min<std::uint64_t>(sites[i].most_kib, std::numeric_limits<std::int64_t>::max());
        std::int64_t const grown = in_long[i] + std::min(in_short[i], static_cast<std::int64_t>(most));
        result[i] = static_cast<std::uint64_t>(std::clamp<std::int64_t>(grown, 0, left));
    }
    return result;
}

}  // namespace sluice::report
