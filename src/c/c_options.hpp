// SPDX-License-Identifier: BSD-3-Clause
/// The options of the C interface.
#pragma once

#include <string>
#include <utility>
#include <vector>

struct sluice_options {
    std::vector<std::pair<std::string, std::string>> values;
};
