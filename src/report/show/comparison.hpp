// SPDX-License-Identifier: BSD-3-Clause
/// Two reports side by side: before and after.
#pragma once

#include <string>
#include <vector>

#include "report/summary/summary.hpp"

namespace sluice::report {

/// A figure of both reports.
struct Compared {
    std::string what;
    std::string before;
    std::string after;
    std::string change;  ///< "−34 %", "×2.1", "same"; empty if both are 0
};

std::vector<Compared> compared(Summary const& before, Summary const& after);

/// A table of at most k_text_lines lines and k_text_columns columns.
std::string to_screen(Summary const& before, Summary const& after);

}  // namespace sluice::report
