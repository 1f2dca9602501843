// SPDX-License-Identifier: BSD-3-Clause
/// What the benchmark `fluctuation` measures: the forms of examples/jacobi3d, with settings, and the two parts of a
/// step, each alone.
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
    std::string text;  ///< "tokens=8": the settings that are changed from the environment's
    Settings settings;
    Part part = Part::whole;
    bool in_file = false;  ///< the points are in a file: call run_in_file instead of run

    /// "NAME" or "NAME:SETTING=VALUE[:SETTING=VALUE…]". Names: at_once, cube_by_cube, fetch, send, paged, and the two
    /// parts of a step: compute (no faces move) and exchange (as at_once, but nothing is computed). Throws
    /// Error(invalid_argument).
    static FluctuationMethod from_text(std::string const& text);

    /// Collective. `box` must be that of the cubes; its `computes` is left as it was.
    jacobi::Used run(jacobi::Box& box, std::vector<jacobi::Cube>& cubes, int steps) const;
    /// Collective. Stores a checksum of this rank's points after the run in `checksum`; `begin` is called when the
    /// initial points are in the file.
    jacobi::Used run_in_file(jacobi::Box& box, int steps, std::function<void()> const& begin,
                             std::function<void()> const& end, std::uint64_t& checksum) const;
};

}  // namespace sluice::bench
