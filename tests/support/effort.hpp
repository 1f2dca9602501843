// SPDX-License-Identifier: BSD-3-Clause
/// How much work a test should do here: everything, or less if time is dear (an MPI that spins, a sanitizer, the
/// simulator).
#pragma once

#include <cstdlib>
#include <string_view>

namespace sluice::tests {

/// Returns `cases`, or a fifth of it (at least 1) if SLUICE_TEST_EFFORT is "small".
inline int effort(int cases) {
    char const* const text = std::getenv("SLUICE_TEST_EFFORT");
    bool const small = text != nullptr && std::string_view(text) == "small";
    return small ? (cases + 4) / 5 : cases;
}

}  // namespace sluice::tests
