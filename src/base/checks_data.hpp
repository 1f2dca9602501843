// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sluice/settings.hpp"

namespace sluice::base {

/// Whether the setting `check` makes the library check data and rules of the program.
inline bool checks_data(CheckedCalls check) noexcept {
    return check == CheckedCalls::data || check == CheckedCalls::all;
}

}  // namespace sluice::base
