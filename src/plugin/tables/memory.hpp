// SPDX-License-Identifier: BSD-3-Clause
/// Memory that Sluice owns for a call of the program, under a lease.
#pragma once

#include "memory/leased.hpp"

namespace sluice::plugin {

using Memory = memory::LeasedBytes;

}  // namespace sluice::plugin
