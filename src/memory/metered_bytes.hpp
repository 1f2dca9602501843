// SPDX-License-Identifier: BSD-3-Clause
/// Bytes that are written before they are read: metered, and not touched when they are allocated.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/meter.hpp"

namespace sluice::memory {

/// A MeteredVector would write zeros into every page first, which costs more than the copy that follows.
class MeteredBytes {
  public:
    MeteredBytes(std::uint64_t bytes, Meter& meter)
        : allocator_(meter), bytes_(bytes), data_(bytes > 0 ? allocator_.allocate(bytes) : nullptr) {}
    MeteredBytes(MeteredBytes const&) = delete;
    MeteredBytes& operator=(MeteredBytes const&) = delete;
    ~MeteredBytes() {
        if (data_ != nullptr) allocator_.deallocate(data_, bytes_);
    }
    std::byte* data() const noexcept { return data_; }

  private:
    MeteredAllocator<std::byte> allocator_;
    std::uint64_t bytes_;
    std::byte* data_;
};

/// Counts memory of a pool as that of one operation while it lives. Throws std::bad_alloc if a test has ordered that.
class MeteredUse {
  public:
    MeteredUse(Meter& meter, Bytes bytes) : meter_(meter), bytes_(bytes) { meter.take(bytes.count); }
    MeteredUse(MeteredUse const&) = delete;
    MeteredUse& operator=(MeteredUse const&) = delete;
    ~MeteredUse() { meter_.give(bytes_.count); }

  private:
    Meter& meter_;
    Bytes bytes_;
};

}  // namespace sluice::memory
