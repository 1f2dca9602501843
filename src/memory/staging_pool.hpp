// SPDX-License-Identifier: BSD-3-Clause
/// Staging for consecutive calls: one buffer is kept from call to call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "memory/meter.hpp"
#include "sluice/budget.hpp"

namespace sluice::memory {

class StagingPool;

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
    std::unique_ptr<std::byte[]> memory_;
    std::size_t capacity_ = 0;
    std::size_t size_ = 0;
    std::optional<Lease> lease_;
};

/// Thread-safe. Keeps at most one buffer of the largest size requested so far; a concurrent call gets another one.
class StagingPool {
  public:
    /// The budget is not owned and may be null; then nothing is leased.
    explicit StagingPool(Budget* budget) : budget_(budget) {}
    ~StagingPool();
    StagingPool(StagingPool const&) = delete;
    StagingPool& operator=(StagingPool const&) = delete;

    /// Returns a buffer of `wanted` bytes, or of `least` if the budget or the memory do not suffice for more. It is
    /// leased, and counts as resident, while it is in use or kept. If the budget has not even `least`, it is exceeded,
    /// because the caller's peers wait. Throws std::bad_alloc if there is no memory for `least`.
    Staging take(Bytes wanted, Bytes least);

    /// The most bytes that were in use or kept at once.
    Bytes peak() const;
    /// For tests: the allocation after the next `allocations` fails.
    void fail_after(std::uint64_t allocations);

  private:
    friend class Staging;
    void allocate(Staging& staging, std::size_t bytes);
    void give_back(Staging& staging) noexcept;

    Budget* budget_;
    mutable std::mutex mutex_;
    Meter meter_;
    std::unique_ptr<std::byte[]> kept_;
    std::size_t kept_bytes_ = 0;
    std::optional<Lease> kept_lease_;
};

}  // namespace sluice::memory
