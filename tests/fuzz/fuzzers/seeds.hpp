// SPDX-License-Identifier: BSD-3-Clause
/// The inputs from which a fuzzer starts, made by code, so none of them is a file of the project.
#pragma once

#include <string>
#include <vector>

namespace sluice::fuzz {

/// Small inputs of the kind that the fuzzer reads. Each fuzzer has its own.
std::vector<std::string> seeds();

}  // namespace sluice::fuzz
