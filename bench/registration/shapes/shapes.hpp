// SPDX-License-Identifier: BSD-3-Clause
/// The streams that are measured. Each follows the structure of a program; nothing is fitted to a figure of the paper.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registration/stream.hpp"

namespace sluice::bench {

struct Shape {
    std::string name;
    std::string made_from;  ///< the structure that it follows, for the notes
    /// The paper's saving of peak registered memory against leave pinned, in percent.
    std::optional<double> paper_saving;
    std::function<std::vector<Stream>()> make;  ///< a stream for each rank of the node
};

/// Of the phases of the NAS benchmarks: stated here, and not measured.
constexpr Noise k_npb_noise{0.005, 0, false};

/// All shapes, in the order of the table.
std::vector<Shape> const& shapes();

// Parts of the list, in files of their own.
std::vector<Shape> simple_shapes();  ///< Figure 1, eight buffers, loops in loops; regular, noisy, drifting, random
std::vector<Shape> npb_shapes();     ///< BT, SP, LU, CG, MG, IS
std::vector<Shape> ft_shapes();      ///< FT in one dimension, scaled, and several tasks on a node

}  // namespace sluice::bench
