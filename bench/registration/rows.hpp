// SPDX-License-Identifier: BSD-3-Clause
/// The rows of the benchmark `registration`: one for each shape and scheme, and ratios.
#pragma once

#include <string>
#include <vector>

#include "registration/shapes/shapes.hpp"

namespace sluice::bench {

struct RegistrationOptions {
    std::vector<std::string> cases;    ///< all if empty
    std::vector<std::string> schemes;  ///< all if empty
    std::string registrar = "counting";
    int pairs = 5;           ///< real runs of each scheme, in turns
    double seconds = 2;      ///< a real run is made so much faster that it takes about this long
    double most_mib = 1024;  ///< shapes with larger buffers are not run in real time
};

bool is_wanted(std::vector<std::string> const& wanted, std::string const& name);

/// The case that is no shape: what a message costs the main thread.
inline constexpr char k_main_thread[] = "main_thread";
void measure_main_thread();

/// Prints the rows of one shape. Throws std::runtime_error for a figure that contradicts itself.
void measure_turned(Shape const& shape, RegistrationOptions const& options);
void measure_real(Shape const& shape, RegistrationOptions const& options);

}  // namespace sluice::bench
