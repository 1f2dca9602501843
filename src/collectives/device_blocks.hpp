// SPDX-License-Identifier: BSD-3-Clause
/// Whether blocks of an all-to-all lie in memory of a device, which the processor must not touch.
#pragma once

#include "collectives/inplace_blocks.hpp"

namespace sluice::collectives {

/// Returns the name of the device's library (kernel/device/device_memory.hpp) if a block for another rank begins there,
/// otherwise null. If the process has loaded no such library, only this is looked at. Throws as TypeMap.
char const* device_of(InplaceBlocks const& blocks, int rank, int size);

}  // namespace sluice::collectives
