// SPDX-License-Identifier: BSD-3-Clause
/// Memory of the C allocator that Sluice owns for a call of the program.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace sluice::plugin {

struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
};
using Memory = std::unique_ptr<std::byte, Free>;

}  // namespace sluice::plugin
