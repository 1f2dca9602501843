// SPDX-License-Identifier: BSD-3-Clause
/// Staging for consecutive calls: one buffer is kept from call to call.
///
///     take ──> in use ──> given back ──> kept ──> take …
///                                         └──> freed by a larger one, or when the budget asks
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include "memory/meter.hpp"
#include "sluice/budget.hpp"

namespace sluice::memory {

class StagingPool;

/// Staging begins with a cache line, so that a block of one line is copied from and to one line.
struct StagingAlignment {
    static constexpr std::align_val_t value{64};
    void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, value); }
};
using StagingMemory = std::unique_ptr<std::byte[], StagingAlignment>;

/// A buffer and its lease; both go back to their pool when this object dies. The pool must outlive it.
class Staging {
  public:
    Staging(Staging&& other) noexcept = default;
    Staging& operator=(Staging&&) = delete;
    ~Staging();
    std::span<std::byte> bytes() const noexcept { return {memory_.get(), size_}; }
    /// Never gives the memory back, because MPI may still write to it.
    void abandon() noexcept { static_cast<void>(memory_.release()); }

  private:
    friend class StagingPool;
    explicit Staging(StagingPool& pool) : pool_(&pool) {}

    StagingPool* pool_;
    StagingMemory memory_;
    std::size_t capacity_ = 0;
    std::size_t size_ = 0;
    std::optional<Lease> lease_;
};

/// Thread-safe. Keeps at most one buffer of the largest size requested so far; a concurrent call gets another one.
class StagingPool {
  public:
    /// Whether the budget may have what is kept when it asks (kernel::Keeper).
    enum class Keeps { always, until_asked };
    /// The budget may be null; then nothing is leased.
    explicit StagingPool(Budget* budget, Keeps keeps = Keeps::always);
    ~StagingPool();
    StagingPool(StagingPool const&) = delete;
    StagingPool& operator=(StagingPool const&) = delete;

    /// Returns a buffer of `wanted` bytes, or of `least` if the budget or the memory do not suffice for more. It is
    /// leased, and counts as resident, while it is in use or kept. If the budget has not even `least`, it is exceeded,
    /// because the caller's peers wait. Throws std::bad_alloc if there is no memory for `least`.
    Staging take(Bytes wanted, Bytes least);
    /// The same for `wanted` bytes alone; nothing if the budget or the memory do not suffice. What is kept and smaller
    /// is freed first.
    std::optional<Staging> try_take(Bytes wanted);

    /// The bytes that are kept now.
    Bytes kept() const;
    /// The most bytes that were in use or kept at once.
    Bytes peak() const;
    /// For tests: the allocation after the next `allocations` fails.
    void fail_after(std::uint64_t allocations);

  private:
    friend class Staging;
    class Kept;
    bool reuse(Staging& staging, std::size_t bytes);
    void allocate(Staging& staging, std::size_t bytes);
    void give_back(Staging& staging) noexcept;

    Budget* budget_;
    std::shared_ptr<Kept> kept_;
};

}  // namespace sluice::memory
