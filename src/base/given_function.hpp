// SPDX-License-Identifier: BSD-3-Clause
/// A call that keeps a function of the program for later refuses an empty one at once.
#pragma once

#include <string>

#include "sluice/error.hpp"

namespace sluice::base {

/// Throws Error(invalid_argument), which names `call`, if `function` is empty.
template <typename Function>
void require(Function const& function, char const* call) {
    if (!function)
        throw Error(ErrorCode::invalid_argument, std::string(call) + " got an empty function: it needs one to call");
}

}  // namespace sluice::base
