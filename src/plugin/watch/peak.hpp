// SPDX-License-Identifier: BSD-3-Clause
/// The peak of a rank: the most that the kernel knows of. It may have been between two samples, or before MPI_Init.
#pragma once

#include <cstdint>

#include "plugin/watch/watch.hpp"

namespace sluice::plugin {

/// Keeps `sample`, or the sample before it if that held more, as the peak if the high water, or what the sample
/// holds, are more than the peak so far. The parts are those of that sample; what the peak has more is the
/// application's, as no call is known to have taken it. `before_init`: the sample is that before MPI_Init.
void keep_peak(Watch& watch, record::Sample const& sample, KernelSays const& kernel, bool before_init = false) noexcept;

}  // namespace sluice::plugin
