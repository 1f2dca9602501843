// SPDX-License-Identifier: BSD-3-Clause
/// Which rank others wait for in a job that did not end, and whether anything can still come from it.
#pragma once

#include <string>
#include <vector>

#include "report/summary/summary.hpp"

namespace sluice::report {

/// Returns at most three sentences, those on ranks that cannot send any more first.
std::vector<std::string> about_awaited(Summary const& summary);

}  // namespace sluice::report
