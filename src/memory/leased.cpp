// SPDX-License-Identifier: BSD-3-Clause
#include "memory/leased.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <new>
#include <utility>

namespace sluice::memory {

namespace {

// From here on a block is mapped and unmapped on its own, so that its pages come and go with its lease.
constexpr std::uint64_t k_own_pages = 65536;

struct alignas(16) Head {
    Budget budget;
    Lease lease;
    std::uint64_t mapped;  // 0: of the C allocator
};

void* map(std::uint64_t bytes) noexcept {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

void* allocate_leased(Budget const& budget, std::uint64_t bytes, Purpose purpose) {
    std::uint64_t const whole = sizeof(Head) + bytes;
    if (whole < bytes) throw std::bad_alloc();
    std::uint64_t const mapped = whole >= k_own_pages ? whole : 0;
    void* const memory = mapped > 0 ? map(whole) : std::malloc(whole);
    if (memory == nullptr) throw std::bad_alloc();
    Budget same = budget;
    Lease lease = same.lease_beyond(Bytes{whole}, purpose);
    same.add_resident(Bytes{whole});
    return new (memory) Head{same, std::move(lease), mapped} + 1;
}

void free_leased(void* memory) noexcept {
    if (memory == nullptr) return;
    Head* const head = static_cast<Head*>(memory) - 1;
    std::uint64_t const mapped = head->mapped;
    // The lease ends after the memory is gone.
    Lease const lease = std::move(head->lease);
    head->budget.remove_resident(lease.amount());
    head->~Head();
    if (mapped > 0)
        munmap(head, mapped);
    else
        std::free(head);
}

}  // namespace sluice::memory
