// SPDX-License-Identifier: BSD-3-Clause
/// Finds the memory that was growing when the record ended, and since when it grew.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "record/record.hpp"

namespace sluice::report {

/// The owner of a part of a process's memory.
enum class Owner : std::uint32_t { application, mpi_private, mpi_shared, files, sluice };
inline constexpr std::array k_owners{Owner::application, Owner::mpi_private, Owner::mpi_shared, Owner::files,
                                     Owner::sluice};

/// "the application's memory", "MPI's private memory", …
char const* name_of(Owner owner);

/// Returns the KiB of a sample that belong to the owner. If the other parts are more than the whole, the application
/// has 0.
std::uint32_t part_of(record::Sample const& sample, Owner owner);

struct Growth {
    std::uint64_t since_us = 0;
    std::uint64_t until_us = 0;
    std::uint64_t from_kib = 0;
    std::uint64_t to_kib = 0;
    std::uint64_t by_kib() const { return to_kib - from_kib; }
    bool operator==(Growth const&) const = default;
};

/// Returns the longest time up to the last sample over which the owner's memory grew steadily: in each quarter of it by
/// a tenth of the growth or more, in total by at least 1 MiB and a 20th of the process. Returns nothing if the memory
/// did not grow at the end.
std::optional<Growth> steady_growth(std::vector<record::Sample> const& samples, Owner owner);

/// The same for memory that climbed and then stood, as that of a process does which the kernel keeps at a limit: the
/// growth ends in time where it came within a 50th of what it held at the end.
std::optional<Growth> climb(std::vector<record::Sample> const& samples, Owner owner);

/// What is known of a site beside samples.
struct SampledSite {
    std::uint64_t mean_us = 0;   ///< how long a call is
    std::uint64_t most_kib = 0;  ///< what its calls can have taken, if they are shorter than the time between samples
};

/// Returns for each site the KiB by which MPI's memory grew for good while the rank was in it, as far as samples tell.
/// This finds growth that no exact measurement around a call has seen. Between two samples many calls may come and go:
/// growth is that of the call at the second one if calls of the site take at least half that time; otherwise the place
/// of a sample tells how long a site takes, and not what, so that what it gets is bounded by `most_kib`. A site gets at
/// most the part of its growth that was still there at the end.
std::vector<std::uint64_t> sampled_growth(std::vector<record::Sample> const& samples,
                                          std::vector<SampledSite> const& sites);

}  // namespace sluice::report
