// SPDX-License-Identifier: BSD-3-Clause
/// Staging for calls that come one after another: one buffer is kept from call to call.
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

/// A buffer and the lease on it; both go back to their pool when it dies. The pool must outlive it.
class Staging {
  public:
    Staging(Staging&& other) noexcept = default;
    Staging& operator=(Staging&&) = delete;
    ~Staging();
    std::span<std::byte> bytes() const noexcept { return {memory_.get(), size_}; }
    /// Never gives the memory back: for when MPI may still write to it.
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

/// Thread-safe. Keeps at most one buffer of the largest size that was asked for; a second call at the same time gets
/// one of its own.
class StagingPool {
  public:
    /// Without a budget nothing is leased. Not owned; may be null.
    explicit StagingPool(Budget* budget) : budget_(budget) {}
    StagingPool(StagingPool const&) = delete;
    StagingPool& operator=(StagingPool const&) = delete;

    /// A buffer of `wanted` bytes, leased as long as it is out or kept; of `least` where budget or memory do not
    /// suffice for more. A budget without even `least` is passed over: who comes here has peers that wait. Throws
    /// std::bad_alloc where there is no memory for `least`.
    Staging take(Bytes wanted, Bytes least);

    /// The most bytes that were out or kept at a time.
    Bytes peak() const;
    /// For tests.
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
