// SPDX-License-Identifier: BSD-3-Clause
/// Memory of a device (a GPU), whose addresses look like any others and must not be touched by the processor.
#pragma once

#include <optional>
#include <string_view>

#include "sluice/error.hpp"

namespace sluice::kernel {

/// Returns the library that can tell addresses of a device's memory, "libcuda" or "libamdhip64", if this process has
/// loaded one by now; otherwise null. Never loads one. Costs 0.02 µs, because a program may load one at any time.
char const* device_library() noexcept;

/// Returns the library to whose device the memory at an address belongs, also if the host may read it there (managed
/// memory); null for memory of the host.
char const* device_of(void const* address) noexcept;

/// Returns the error of a call that was given such an address, if it is one. `what` names the memory: "the array".
std::optional<Error> fault_if_on_device(std::string_view what, void const* address);

}  // namespace sluice::kernel
