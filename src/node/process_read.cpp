// SPDX-License-Identifier: BSD-3-Clause
#include "node/process_read.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <random>

#include "groups/agree.hpp"

namespace sluice::node {

namespace {

/// Drops `done` bytes from the front of `pieces`.
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

struct Nonce {
    std::uint64_t value;
    std::uint64_t address;
    std::int64_t pid;
};

}  // namespace

bool read_process(pid_t pid, std::span<iovec> ours, std::span<iovec> theirs) noexcept {
    while (!theirs.empty()) {
        ssize_t const got = process_vm_readv(pid, ours.data(), ours.size(), theirs.data(), theirs.size(), 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        ours = without_front(ours, static_cast<std::size_t>(got));
        theirs = without_front(theirs, static_cast<std::size_t>(got));
    }
    return true;
}

bool all_can_read_all(NodeRings& rings, MPI_Comm node, std::span<pid_t> pids) {
    std::uint64_t const secret = (std::uint64_t{std::random_device{}()} << 32) | std::random_device{}();
    Nonce const mine{secret, reinterpret_cast<std::uint64_t>(&secret), getpid()};
    std::memcpy(rings.board(rings.rank()).data(), &mine, sizeof mine);
    rings.barrier();

    bool works = true;
    for (int r = 0; r < rings.size(); ++r) {
        Nonce theirs{};
        std::memcpy(&theirs, rings.board(r).data(), sizeof theirs);
        pids[static_cast<std::size_t>(r)] = static_cast<pid_t>(theirs.pid);
        if (r == rings.rank()) continue;
        std::uint64_t seen = 0;
        iovec here{&seen, sizeof seen};
        iovec there{reinterpret_cast<void*>(theirs.address), sizeof seen};
        works = works && read_process(static_cast<pid_t>(theirs.pid), {&here, 1}, {&there, 1}) && seen == theirs.value;
    }
    return groups::all_true(node, works);  // also keeps `secret` alive until all have read it
}

}  // namespace sluice::node
