// SPDX-License-Identifier: BSD-3-Clause
/// Writes the source's line into the names of places: "exchange+0x1f (app)" becomes "exchange@halo.c:97 (app)".
#pragma once

#include "cli/report/program_files.hpp"
#include "report/summary/summary.hpp"

namespace sluice::cli {

/// Places whose file is not here, or has no debug information, keep their names.
void name_sources(report::Summary& summary, ProgramFiles const& files);

}  // namespace sluice::cli
