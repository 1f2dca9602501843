// SPDX-License-Identifier: BSD-3-Clause
#include "node/process_swap.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace sluice::node {

namespace {

/// Calls `once(done)`, which returns how many bytes it moved after the first `done`, until all are moved or none is.
template <typename Once>
std::size_t repeat(std::size_t bytes, Once const& once) {
    std::size_t done = 0;
    while (done < bytes) {
        ssize_t const moved = once(done);
        if (moved < 0 && errno == EINTR) continue;
        if (moved <= 0) break;
        done += static_cast<std::size_t>(moved);
    }
    return done;
}

iovec remote(std::uint64_t address, std::size_t bytes) {
    return {reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), bytes};
}

}  // namespace

std::size_t read_from_process(pid_t pid, std::span<std::byte> to, std::uint64_t theirs) noexcept {
    return repeat(to.size(), [&](std::size_t done) {
        iovec const here{to.data() + done, to.size() - done};
        iovec const there = remote(theirs + done, to.size() - done);
        return process_vm_readv(pid, &here, 1, &there, 1, 0);
    });
}

std::size_t write_to_process(pid_t pid, std::span<std::byte const> from, std::uint64_t theirs) noexcept {
    return repeat(from.size(), [&](std::size_t done) {
        iovec const here{const_cast<std::byte*>(from.data()) + done, from.size() - done};
        iovec const there = remote(theirs + done, from.size() - done);
        return process_vm_writev(pid, &here, 1, &there, 1, 0);
    });
}

std::size_t swap_with_process(pid_t pid, std::span<std::byte> mine, std::uint64_t theirs,
                              std::span<std::byte> bounce) noexcept {
    std::size_t swapped = 0;
    while (swapped < mine.size()) {
        std::size_t const bytes = std::min(bounce.size(), mine.size() - swapped);
        std::span<std::byte> const part = mine.subspan(swapped, bytes);
        std::memcpy(bounce.data(), part.data(), bytes);
        std::size_t const got = read_from_process(pid, part, theirs + swapped);
        std::size_t const given = write_to_process(pid, bounce.first(got), theirs + swapped);
        swapped += given;
        if (given == bytes) continue;
        // A read that ends early may have overwritten more bytes than it reports.
        std::memcpy(part.data() + given, bounce.data() + given, bytes - given);
        break;
    }
    return swapped;
}

}  // namespace sluice::node
