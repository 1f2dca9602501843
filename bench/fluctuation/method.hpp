// SPDX-License-Identifier: BSD-3-Clause
/// What the benchmark `fluctuation` measures: the forms of examples/jacobi3d, with settings, and their two parts alone.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "jacobi3d/cube.hpp"
#include "sluice/settings.hpp"

namespace sluice::bench {

/// One column of a table.
struct FluctuationMethod {
    enum class Part { whole, compute, exchange };

    std::string name;  ///< "fetch"
    std::string text;  ///< "tokens=8": what is set beside the environment
    Settings settings;
    Part part = Part::whole;
    bool in_file = false;  ///< the points live in a file: run_in_file instead of run

    /// "NAME" or "NAME:SETTING=VALUE[:SETTING=VALUE…]". Names: at_once, cube_by_cube, fetch, send, paged, and what the
    /// time of a step is made of: compute (no faces move), exchange (as at_once, nothing is computed). Throws
    /// Error(invalid_argument).
    static FluctuationMethod from_text(std::string const& text);

    /// Collective. `box` must be that of the cubes; its `computes` is left as it was.
    jacobi::Used run(jacobi::Box& box, std::vector<jacobi::Cube>& cubes, int steps) const;
    /// Collective. A checksum of the points afterwards goes to `checksum`, of this rank; `begin` is called when the
    /// points of the start are in the file.
    jacobi::Used run_in_file(jacobi::Box& box, int steps, std::function<void()> const& begin,
                             std::function<void()> const& end, std::uint64_t& checksum) const;
};

}  // namespace sluice::bench
