// SPDX-License-Identifier: BSD-3-Clause
/// Advice on the memory of calls: what the MPI took in them, and the buffers that they keep busy. Each function returns
/// an empty text if there is nothing to say.
#pragma once

#include <string>

#include "report/summary/summary.hpp"

namespace sluice::report {

std::string about_growth(Summary const& summary);
std::string about_flight(Summary const& summary);

}  // namespace sluice::report
