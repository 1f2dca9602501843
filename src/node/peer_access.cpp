// SPDX-License-Identifier: BSD-3-Clause
#include "node/peer_access.hpp"

#include <unistd.h>

#include <cstring>
#include <random>
#include <span>

#include "kernel/machine.hpp"
#include "node/process_swap.hpp"

namespace sluice::node {

namespace {

#ifndef SLUICE_SIMULATED
std::uint64_t random_word() {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device();
}
#endif

}  // namespace

PeerAccess::PeerAccess(bool allowed) : nonce_(0) {
#ifndef SLUICE_SIMULATED
    if (!allowed) return;
    try {
        nonce_ = random_word();
        card_ = {kernel::this_machine(), nonce_, reinterpret_cast<std::uintptr_t>(&nonce_), getpid()};
    } catch (std::exception const&) {  // without random numbers there is no access, and messages serve
        card_ = {};
    }
#else
    (void)allowed;
#endif
}

PeerAccess::State PeerAccess::state_of(int peer) const noexcept {
    std::lock_guard const lock(mutex_);
    Known const& known = known_[static_cast<std::size_t>(peer) % k_remembered];
    return known.peer == peer ? known.state : State::unknown;
}

void PeerAccess::remember(int peer, State state) noexcept {
    std::lock_guard const lock(mutex_);
    known_[static_cast<std::size_t>(peer) % k_remembered] = {peer, state};
}

bool PeerAccess::is_possible(int peer) const noexcept {
    return card_.node != 0 && state_of(peer) != State::refused;
}

bool PeerAccess::is_proven(int peer) const noexcept {
    return state_of(peer) == State::proven;
}

bool PeerAccess::prove(int peer, AccessCard const& theirs) noexcept {
    auto const pid = static_cast<pid_t>(theirs.pid);
    std::uint64_t seen = 0;
    bool const right =
        read_from_process(pid, std::as_writable_bytes(std::span(&seen, 1)), theirs.nonce_address) == sizeof seen &&
        seen == theirs.nonce &&
        write_to_process(pid, std::as_bytes(std::span(&seen, 1)), theirs.nonce_address) == sizeof seen;
    remember(peer, right ? State::proven : State::refused);
    return right;
}

void PeerAccess::refuse(int peer) noexcept {
    remember(peer, State::refused);
}

}  // namespace sluice::node
