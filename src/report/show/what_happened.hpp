// SPDX-License-Identifier: BSD-3-Clause
/// Why a job did not end, in plain words with numbers: who is gone, who held how much, in which call, growing since
/// when.
#pragma once

#include <string>
#include <vector>

#include "report/summary/summary.hpp"

namespace sluice::report {

/// A few sentences, the most telling first; empty for a job that ended.
std::vector<std::string> what_happened(Summary const& summary);

}  // namespace sluice::report
