// SPDX-License-Identifier: BSD-3-Clause
/// Memory that carries its own lease, for buffers and for standard containers.
///
///     | budget, lease | the bytes of the caller |      the block's own head gives both back
///
/// Such memory is for what must be there for a call to go on, so its lease is taken whatever the limit; other requests
/// wait until the bytes held are below it again. It counts as resident.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sluice/budget.hpp"

namespace sluice::memory {

/// Returns `bytes` bytes, aligned to 16. Blocks of 64 KiB and more have pages of their own. Throws std::bad_alloc.
void* allocate_leased(Budget const& budget, std::uint64_t bytes, Purpose purpose);
void free_leased(void* memory) noexcept;

/// For objects without a destructor in such memory.
struct FreeLeased {
    void operator()(void* memory) const noexcept { free_leased(memory); }
};
using LeasedBytes = std::unique_ptr<std::byte, FreeLeased>;

/// Throws std::bad_alloc.
inline LeasedBytes leased_bytes(Budget const& budget, std::uint64_t bytes, Purpose purpose) {
    return LeasedBytes(static_cast<std::byte*>(allocate_leased(budget, bytes, purpose)));
}

/// A standard allocator whose memory is leased for bookkeeping. The budget must outlive the container.
template <typename T>
class LeasedAllocator {
  public:
    using value_type = T;
    explicit LeasedAllocator(Budget const& budget) noexcept : budget_(&budget) {}
    template <typename U>
    LeasedAllocator(LeasedAllocator<U> const& other) noexcept : budget_(&other.budget()) {}

    T* allocate(std::size_t n) {
        static_assert(alignof(T) <= 16);
        return static_cast<T*>(allocate_leased(*budget_, n * sizeof(T), Purpose::bookkeeping));
    }
    void deallocate(T* memory, std::size_t) noexcept { free_leased(memory); }
    Budget const& budget() const noexcept { return *budget_; }
    template <typename U>
    bool operator==(LeasedAllocator<U> const& other) const noexcept {
        return budget_ == &other.budget();
    }

  private:
    Budget const* budget_;
};

template <typename T>
using LeasedVector = std::vector<T, LeasedAllocator<T>>;

}  // namespace sluice::memory
