// SPDX-License-Identifier: BSD-3-Clause
/// How much work a test should do here: everything, or less if time is dear (an MPI that spins, a sanitizer, the
/// simulator).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace sluice::tests {

inline bool is_small_effort() {
    char const* const text = std::getenv("SLUICE_TEST_EFFORT");
    return text != nullptr && std::string_view(text) == "small";
}

/// Returns `cases`, or a fifth of it (at least 1) if SLUICE_TEST_EFFORT is "small".
inline int effort(int cases) {
    return is_small_effort() ? (cases + 4) / 5 : cases;
}

/// The distance of the allocations that a test lets fail, one in each of its cases.
inline std::uint64_t step_of_allocations() {
    return is_small_effort() ? 3 : 1;
}

}  // namespace sluice::tests
