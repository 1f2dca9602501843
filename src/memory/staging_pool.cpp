// SPDX-License-Identifier: BSD-3-Clause
#include "memory/staging_pool.hpp"

#include "kernel/keeper.hpp"

namespace sluice::memory {

/// The budget may ask for it while the pool dies, so it is an object of its own. No lock is held while the budget is
/// used.
class StagingPool::Kept final : public kernel::Keeper {
  public:
    struct Buffer {
        StagingMemory memory;
        std::size_t bytes = 0;
        std::optional<Lease> lease;
    };

    explicit Kept(Budget const* budget) {
        if (budget != nullptr) budget_ = *budget;
    }
    ~Kept() override { free(std::move(buffer_)); }

    void give_back() noexcept override { free(swap({})); }

    /// Returns what was kept if it is large enough.
    Buffer take(std::size_t bytes) {
        std::lock_guard const lock(mutex_);
        return buffer_.bytes >= bytes ? std::exchange(buffer_, Buffer()) : Buffer();
    }
    /// Keeps the larger buffer, and frees the other one.
    void keep(Buffer buffer) noexcept {
        {
            std::lock_guard const lock(mutex_);
            if (buffer.bytes > buffer_.bytes) std::swap(buffer, buffer_);
        }
        free(std::move(buffer));
    }

    void count(std::size_t bytes) {
        {
            std::lock_guard const lock(mutex_);
            meter_.take(bytes);
        }
        if (budget_) budget_->add_resident(Bytes{bytes});
    }
    void discount(std::size_t bytes) noexcept {
        {
            std::lock_guard const lock(mutex_);
            meter_.give(bytes);
        }
        if (budget_) budget_->remove_resident(Bytes{bytes});
    }

    Bytes bytes() const {
        std::lock_guard const lock(mutex_);
        return Bytes{buffer_.bytes};
    }
    Bytes peak() const {
        std::lock_guard const lock(mutex_);
        return meter_.peak();
    }
    void fail_after(std::uint64_t allocations) {
        std::lock_guard const lock(mutex_);
        meter_.fail_after(allocations);
    }

  private:
    Buffer swap(Buffer other) noexcept {
        std::lock_guard const lock(mutex_);
        return std::exchange(buffer_, std::move(other));
    }
    /// The budget hears of the bytes before the kernel gets them, and the lease ends last.
    void free(Buffer buffer) noexcept {
        if (buffer.bytes == 0) return;
        discount(buffer.bytes);
        buffer.memory.reset();
    }

    std::optional<Budget> budget_;
    mutable std::mutex mutex_;
    Meter meter_;
    Buffer buffer_;
};

Staging::~Staging() {
    if (memory_) pool_->give_back(*this);
}

StagingPool::StagingPool(Budget* budget, Keeps keeps) : budget_(budget), kept_(std::make_shared<Kept>(budget)) {
    if (budget != nullptr && keeps == Keeps::until_asked) budget::add_keeper(*budget, kept_);
}

StagingPool::~StagingPool() = default;

bool StagingPool::reuse(Staging& staging, std::size_t bytes) {
    Kept::Buffer buffer = kept_->take(bytes);
    if (buffer.bytes == 0) return false;
    staging.memory_ = std::move(buffer.memory);
    staging.capacity_ = buffer.bytes;
    staging.lease_ = std::move(buffer.lease);
    staging.size_ = bytes;
    return true;
}

void StagingPool::allocate(Staging& staging, std::size_t bytes) {
    kept_->count(bytes);
    try {
        staging.memory_.reset(new (StagingAlignment::value)
                                  std::byte[bytes]);  // not zeroed, so that only the pages in use become resident
    } catch (...) {
        kept_->discount(bytes);
        throw;
    }
    staging.capacity_ = staging.size_ = bytes;
}

Staging StagingPool::take(Bytes wanted, Bytes least) {
    Staging staging(*this);
    if (reuse(staging, wanted.count)) return staging;
    if (budget_ != nullptr) {
        staging.lease_ = budget_->try_lease(wanted, Purpose::staging);
        if (!staging.lease_) {
            wanted = least;
            staging.lease_ = budget_->try_lease(least, Purpose::staging);
        }
    }
    try {
        allocate(staging, wanted.count);
    } catch (std::bad_alloc const&) {
        allocate(staging, least.count);
    }
    return staging;
}

std::optional<Staging> StagingPool::try_take(Bytes wanted) {
    Staging staging(*this);
    if (reuse(staging, wanted.count)) return staging;
    kept_->give_back();
    if (budget_ != nullptr) {
        staging.lease_ = budget_->try_lease(wanted, Purpose::staging);
        if (!staging.lease_) return std::nullopt;
    }
    try {
        allocate(staging, wanted.count);
    } catch (std::bad_alloc const&) {
        return std::nullopt;
    }
    return staging;
}

void StagingPool::give_back(Staging& staging) noexcept {
    kept_->keep({std::move(staging.memory_), staging.capacity_, std::exchange(staging.lease_, std::nullopt)});
}

Bytes StagingPool::kept() const {
    return kept_->bytes();
}

Bytes StagingPool::peak() const {
    return kept_->peak();
}

void StagingPool::fail_after(std::uint64_t allocations) {
    kept_->fail_after(allocations);
}

}  // namespace sluice::memory
