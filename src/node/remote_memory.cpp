// SPDX-License-Identifier: BSD-3-Clause
#include "node/remote_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>

#include "kernel/machine.hpp"

namespace sluice::node {

namespace {

constexpr std::size_t k_most_pieces = 1024;  // of one call; what the kernel takes (UIO_MAXIOV)

#ifndef SLUICE_SIMULATED
std::uint64_t random_word() {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device();
}
#endif

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

iovec remote_piece(std::uint64_t address, std::size_t bytes) {
    return {reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), bytes};
}

/// Drops `done` bytes, and pieces without bytes, from the front of `pieces`.
std::span<iovec> without_front(std::span<iovec> pieces, std::size_t done) {
    while (!pieces.empty() && done >= pieces.front().iov_len) {
        done -= pieces.front().iov_len;
        pieces = pieces.subspan(1);
    }
    if (!pieces.empty()) {
        pieces.front().iov_base = static_cast<std::byte*>(pieces.front().iov_base) + done;
        pieces.front().iov_len -= done;
    }
    return pieces;
}

}  // namespace

std::size_t Remote::read(std::span<std::byte> to) const noexcept {
    return repeat(to.size(), [&](std::size_t done) {
        iovec const here{to.data() + done, to.size() - done};
        iovec const there = remote_piece(address_ + done, to.size() - done);
        return process_vm_readv(pid_, &here, 1, &there, 1, 0);
    });
}

bool Remote::read_pieces(std::span<iovec> ours, std::span<iovec> theirs) const noexcept {
    ours = without_front(ours, 0);
    theirs = without_front(theirs, 0);
    while (!theirs.empty()) {
        ssize_t const got = process_vm_readv(pid_, ours.data(), std::min(ours.size(), k_most_pieces), theirs.data(),
                                             std::min(theirs.size(), k_most_pieces), 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        ours = without_front(ours, static_cast<std::size_t>(got));
        theirs = without_front(theirs, static_cast<std::size_t>(got));
    }
    return true;
}

std::size_t Remote::write(std::span<std::byte const> from) const noexcept {
    if (touch_ != Touch::write) return 0;
    return repeat(from.size(), [&](std::size_t done) {
        iovec const here{const_cast<std::byte*>(from.data()) + done, from.size() - done};
        iovec const there = remote_piece(address_ + done, from.size() - done);
        return process_vm_writev(pid_, &here, 1, &there, 1, 0);
    });
}

std::size_t Remote::swap(std::span<std::byte> mine, std::span<std::byte> bounce) const noexcept {
    if (touch_ != Touch::write || bounce.empty()) return 0;
    std::size_t swapped = 0;
    while (swapped < mine.size()) {
        Remote const there = at(address_ + swapped);
        std::size_t const bytes = std::min(bounce.size(), mine.size() - swapped);
        std::span<std::byte> const part = mine.subspan(swapped, bytes);
        std::memcpy(bounce.data(), part.data(), bytes);
        std::size_t const got = there.read(part);
        std::size_t const given = there.write(bounce.first(got));
        swapped += given;
        if (given == bytes) continue;
        // A read that ends early may have overwritten more bytes than it reports.
        std::memcpy(part.data() + given, bounce.data() + given, bytes - given);
        break;
    }
    return swapped;
}

RemoteMemory::RemoteMemory(bool allowed) : nonce_(0) {
#ifndef SLUICE_SIMULATED
    if (!allowed) return;
    try {
        nonce_ = random_word();
        card_ = {kernel::this_machine(), nonce_, reinterpret_cast<std::uintptr_t>(&nonce_), getpid(), 0};
    } catch (std::exception const&) {  // without random numbers there is no access, and messages serve
        card_ = {};
    }
#else
    (void)allowed;
#endif
}

RemoteMemory::Known RemoteMemory::known_of(int peer) const noexcept {
    std::lock_guard const lock(mutex_);
    Known const& known = known_[static_cast<std::size_t>(peer) % k_remembered];
    return known.peer == peer ? known : Known{peer};
}

bool RemoteMemory::may_reach(int peer) const noexcept {
    return card_.node != 0 && known_of(peer).state != State::refused;
}

bool RemoteMemory::has_reached(int peer) const noexcept {
    return known_of(peer).state == State::writable;
}

Remote RemoteMemory::reach(int peer, AccessCard const& theirs, Touch touch) noexcept {
    auto const pid = static_cast<pid_t>(theirs.pid);
    Known const known = known_of(peer);
    if (known.state == State::refused) return {};
    bool const is_of_this_card = known.pid == pid && known.nonce == theirs.nonce && theirs.key == 0;
    if (is_of_this_card && (known.state == State::writable || (known.state == State::readable && touch == Touch::read)))
        return {pid, touch, theirs.key};
    State const proven = touch == Touch::write ? State::writable : State::readable;
    return remember({peer, is_right(theirs, touch) ? proven : State::refused, pid, theirs.nonce}, theirs, touch);
}

bool RemoteMemory::is_right(AccessCard const& theirs, Touch touch) const noexcept {
    auto const pid = static_cast<pid_t>(theirs.pid);
    if (card_.pid == 0 || pid <= 0 || pid != theirs.pid || theirs.node != card_.node || theirs.key != 0) return false;
    std::uint64_t seen = 0;
    Remote const nonce = Remote(pid, touch, theirs.key).at(theirs.nonce_address);
    return nonce.read(std::as_writable_bytes(std::span(&seen, 1))) == sizeof seen && seen == theirs.nonce &&
           (touch == Touch::read || nonce.write(std::as_bytes(std::span(&seen, 1))) == sizeof seen);
}

/// A refusal by another thread, which may have come during the proof, stays.
Remote RemoteMemory::remember(Known const& now, AccessCard const& theirs, Touch touch) noexcept {
    std::lock_guard const lock(mutex_);
    Known& known = known_[static_cast<std::size_t>(now.peer) % k_remembered];
    if (known.peer == now.peer && known.state == State::refused) return {};
    known = now;
    return now.state == State::refused ? Remote() : Remote(now.pid, touch, theirs.key);
}

void RemoteMemory::refuse(int peer) noexcept {
    std::lock_guard const lock(mutex_);
    known_[static_cast<std::size_t>(peer) % k_remembered] = {peer, State::refused};
}

}  // namespace sluice::node
