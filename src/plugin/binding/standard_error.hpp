// SPDX-License-Identifier: BSD-3-Clause
/// Standard error, as long as descriptor 2 is what it was when the program started. A program that closes it may open a
/// file of its own, which then has the number 2 and must not get a line of ours.
#pragma once

#include <chrono>
#include <string_view>

namespace sluice::plugin {

enum class Written {
    all,
    stuck,   ///< its reader took nothing for the time given: the rest is dropped
    absent,  ///< descriptor 2 is no longer standard error, or never was open: nothing was written
};

/// Writes a text as write_patiently() does.
Written write_to_standard_error(std::string_view text, std::chrono::milliseconds patience) noexcept;

}  // namespace sluice::plugin
