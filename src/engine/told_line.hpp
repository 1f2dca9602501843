// SPDX-License-Identifier: BSD-3-Clause
/// What the library says on standard error. Nothing where the setting `quiet` is on, or where descriptor 2 is another
/// file by now (kernel/files/standard_error.hpp).
#pragma once

#include <string>

namespace sluice::engine {

/// Prints "sluice: " and the line in one piece; drops it if the reader of standard error takes nothing for seconds.
/// Throws std::bad_alloc.
void tell_line(std::string const& line);

/// The line of a destructor: `object`, such as "Store", is destroyed by one thread and used by another.
void tell_that_it_is_in_use(char const* object, int rank) noexcept;

}  // namespace sluice::engine
