// SPDX-License-Identifier: BSD-3-Clause
#include "memory/staging_pool.hpp"

#include <algorithm>
#include <new>

namespace sluice::memory {

Staging::~Staging() {
    if (memory_) pool_->give_back(*this);
}

void StagingPool::allocate(Staging& staging, std::size_t bytes) {
    meter_.take(bytes);
    try {
        staging.memory_.reset(new std::byte[bytes]);  // not zeroed, so that only the pages in use become resident
    } catch (...) {
        meter_.give(bytes);
        throw;
    }
    staging.capacity_ = bytes;
    if (budget_ != nullptr) budget_->add_resident(Bytes{bytes});
}

StagingPool::~StagingPool() {
    if (budget_ != nullptr) budget_->remove_resident(Bytes{kept_bytes_});
}

Staging StagingPool::take(Bytes wanted, Bytes least) {
    Staging staging(*this);
    std::lock_guard const lock(mutex_);
    if (kept_bytes_ >= wanted.count) {
        staging.memory_ = std::move(kept_);
        staging.capacity_ = std::exchange(kept_bytes_, 0);
        staging.lease_ = std::exchange(kept_lease_, std::nullopt);
        staging.size_ = wanted.count;
        return staging;
    }
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
        wanted = least;
        allocate(staging, wanted.count);
    }
    staging.size_ = wanted.count;
    return staging;
}

void StagingPool::give_back(Staging& staging) noexcept {
    std::unique_ptr<std::byte[]> freed = std::move(staging.memory_);
    std::optional<Lease> lease = std::exchange(staging.lease_, std::nullopt);
    std::size_t bytes = staging.capacity_;
    std::lock_guard const lock(mutex_);
    if (bytes > kept_bytes_) {
        std::swap(freed, kept_);
        std::swap(lease, kept_lease_);
        std::swap(bytes, kept_bytes_);
    }
    meter_.give(bytes);
    if (budget_ != nullptr) budget_->remove_resident(Bytes{bytes});
}

Bytes StagingPool::peak() const {
    std::lock_guard const lock(mutex_);
    return meter_.peak();
}

void StagingPool::fail_after(std::uint64_t allocations) {
    std::lock_guard const lock(mutex_);
    meter_.fail_after(allocations);
}

}  // namespace sluice::memory
