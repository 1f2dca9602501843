// SPDX-License-Identifier: BSD-3-Clause
/// The options of the C interface.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "c/handle_table.hpp"

struct sluice_options {
    static constexpr sluice::c::HandleKind k_kind = sluice::c::HandleKind::options;
    std::vector<std::pair<std::string, std::string>> values;
};
