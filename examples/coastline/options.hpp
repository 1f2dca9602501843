// SPDX-License-Identifier: BSD-3-Clause
/// The command line of the example.
#pragma once

#include <string>
#include <vector>

#include "world/coastline_file.hpp"
#include "world/world_blocks.hpp"

namespace coastline {

struct Options {
    std::string file = installed_coastline_file();  ///< --file: binned_GSHHS_*.nc
    std::vector<std::string> ways = {
        "sluice"};       ///< --ways: "sluice" or "alltoallv", one after another, e.g. sluice,alltoallv
    Band band;           ///< --south, --north: degrees of latitude
    std::string record;  ///< --record: folder for what draw.py needs
};

/// Throws std::runtime_error with the usage if `arguments` are invalid.
Options options_from(std::vector<std::string> const& arguments);

}  // namespace coastline
