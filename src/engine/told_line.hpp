// SPDX-License-Identifier: BSD-3-Clause
/// What the library says on standard error.
#pragma once

#include <string>

namespace sluice::engine {

/// Prints "sluice: " and the line in one piece; drops it if the reader of standard error takes nothing for seconds.
void tell_line(std::string const& line);

}  // namespace sluice::engine
