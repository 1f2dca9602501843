// SPDX-License-Identifier: BSD-3-Clause
/// A library that a test loads in place of a device's: see device_stand_in.cpp.
#pragma once

#include <dlfcn.h>

#include <cstddef>

namespace sluice::tests {

using StandInRange = void (*)(void const* from, std::size_t length, bool is_managed);

/// Loads it; returns its function stand_in_range, which says what a device's memory is. Null if it cannot be loaded.
inline StandInRange load_device(char const* path) {
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return library == nullptr ? nullptr : reinterpret_cast<StandInRange>(dlsym(library, "stand_in_range"));
}

}  // namespace sluice::tests
