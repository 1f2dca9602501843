// SPDX-License-Identifier: BSD-3-Clause
/// Runs streams through a scheme on a turned clock, and computes what is best with the future known.
#pragma once

#include <string_view>
#include <vector>

#include "registration/scheme.hpp"

namespace sluice::bench {

/// Of all ranks of the node: bytes of all together, times of the slowest, counts added up.
struct Outcome {
    std::uint64_t peak = 0;
    std::uint64_t late_peak = 0;  ///< in the second half
    double average = 0;           ///< over the whole run
    double late_average = 0;      ///< over the second half
    Time time{};
    SchemeFigures figures;
};

Outcome run_turned(std::vector<Stream> const& streams, std::string_view scheme, SchemeOptions const& options);

/// The offline optimum: nothing is registered on the main thread, and each range is pinned as late as it can be and
/// given back at once, unless it is used again before it could be registered again. No helper can pin less: it knows
/// the future, and has as many hands as it needs.
Outcome run_optimum(std::vector<Stream> const& streams, SchemeOptions const& options);

}  // namespace sluice::bench
