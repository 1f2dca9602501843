// SPDX-License-Identifier: BSD-3-Clause
/// The part of pages.cpp that can be tested on a made-up machine.
#pragma once

#include "cli/doctor/finding.hpp"

namespace sluice::cli {

/// Reads the files of /sys below `root`.
Findings look_at_pages_below(std::string const& root);

}  // namespace sluice::cli
