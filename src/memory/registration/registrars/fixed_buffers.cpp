// SPDX-License-Identifier: BSD-3-Clause
#include "memory/registration/registrars/fixed_buffers.hpp"

#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "memory/registration/registrars/stopwatch.hpp"

namespace sluice::memory::registration {

namespace {

Failure failure_of(int error) noexcept {
    switch (error) {
        case 0:
            return Failure::none;
        case ENOMEM:
        case EAGAIN:
            return Failure::limit;
        case EFAULT:
        case EOPNOTSUPP:
            return Failure::not_mapped;
        default:
            return Failure::device;
    }
}

}  // namespace

FixedBuffers::FixedBuffers() {
    io_uring_params parameters{};
    ring_ = kernel::out_of_the_way(static_cast<int>(syscall(SYS_io_uring_setup, 1, &parameters)));
    if (!ring_.is_open()) {
        why_not_ = std::string("io_uring_setup: ") + std::strerror(errno);
        return;
    }
    io_uring_rsrc_register table{};
    table.nr = k_places;
    table.flags = IORING_RSRC_REGISTER_SPARSE;
    if (syscall(SYS_io_uring_register, ring_.get(), IORING_REGISTER_BUFFERS2, &table, sizeof(table)) != 0) {
        why_not_ =
            std::string("an io_uring without a sparse table of buffers (Linux 5.19 has it): ") + std::strerror(errno);
        ring_.reset();
        return;
    }
    free_.reserve(k_places);
    for (std::uint32_t place = k_places; place > 0; --place)
        free_.push_back(place - 1);
}

/// Empties the place if `pages` is empty. Returns 0 or an errno.
int FixedBuffers::update(std::uint32_t place, Range pages) noexcept {
    iovec buffer{reinterpret_cast<void*>(pages.begin), pages.bytes};
    std::uint64_t tag = 0;
    io_uring_rsrc_update2 change{};
    change.offset = place;
    change.data = reinterpret_cast<std::uint64_t>(&buffer);
    change.tags = reinterpret_cast<std::uint64_t>(&tag);
    change.nr = 1;
    long const changed =
        syscall(SYS_io_uring_register, ring_.get(), IORING_REGISTER_BUFFERS_UPDATE, &change, sizeof(change));
    if (changed == 1) return 0;
    return changed < 0 ? errno : EFAULT;
}

Registered FixedBuffers::add(Range range) noexcept {
    Range const pages = whole_pages(range);
    Stopwatch const watch;
    if (!ring_.is_open()) return {0, Failure::device, watch.elapsed()};
    std::lock_guard const lock(mutex_);
    if (free_.empty() || pages.bytes > k_most_bytes) return {0, Failure::limit, watch.elapsed()};
    std::uint32_t const place = free_.back();
    Failure const failure = failure_of(update(place, pages));
    if (failure != Failure::none) return {0, failure, watch.elapsed()};
    free_.pop_back();
    return {place + 1, Failure::none, watch.elapsed()};
}

Time FixedBuffers::remove(std::uint64_t key, Range) noexcept {
    Stopwatch const watch;
    if (key == 0 || key > k_places) return watch.elapsed();
    std::lock_guard const lock(mutex_);
    auto const place = static_cast<std::uint32_t>(key - 1);
    update(place, {});
    free_.push_back(place);
    return watch.elapsed();
}

}  // namespace sluice::memory::registration
