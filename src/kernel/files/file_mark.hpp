// SPDX-License-Identifier: BSD-3-Clause
/// Tells a file from others of its name, also from what it was before it was written anew.
#pragma once

#include <cstdint>

namespace sluice::kernel {

/// Of the file's size and the time of its last change; 0 if it cannot be found. Does not allocate.
std::uint64_t file_mark(char const* path) noexcept;

}  // namespace sluice::kernel
