// SPDX-License-Identifier: BSD-3-Clause
#include "node/peer_access.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <random>
#include <span>
#include <string>

#include "node/process_swap.hpp"

namespace sluice::node {

namespace {

#ifndef SLUICE_SIMULATED
std::uint64_t random_word() {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device();
}

/// Equal in two processes of one boot and one namespace of process numbers; 0 if that is unknown.
std::uint64_t node_identity() {
    std::string boot;
    if (!(std::ifstream("/proc/sys/kernel/random/boot_id") >> boot)) return 0;
    struct stat names {};
    if (stat("/proc/self/ns/pid", &names) != 0) return 0;
    std::uint64_t value = 0xcbf29ce484222325ULL;  // FNV-1a
    auto const mix = [&value](unsigned char byte) { value = (value ^ byte) * 0x100000001b3ULL; };
    for (char const letter : boot)
        mix(static_cast<unsigned char>(letter));
    for (unsigned shift = 0; shift < 64; shift += 8)
        mix(static_cast<unsigned char>(static_cast<std::uint64_t>(names.st_ino) >> shift));
    return value;
}
#endif

}  // namespace

PeerAccess::PeerAccess(bool allowed) : nonce_(0) {
#ifndef SLUICE_SIMULATED
    if (!allowed) return;
    try {
        nonce_ = random_word();
        card_ = {node_identity(), nonce_, reinterpret_cast<std::uintptr_t>(&nonce_), getpid()};
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
