// SPDX-License-Identifier: BSD-3-Clause
/// Reads a peer's memory inside a node with one copy (process_vm_readv), and finds out whether the kernel allows it.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <span>

#include "node/node_rings.hpp"

namespace sluice::node {

/// Reads `theirs` of process `pid` into `ours` (equal total lengths; at most IOV_MAX pieces each). Goes on after short
/// reads. Returns false if the kernel refuses or the memory is not mapped; the content of `ours` is then unspecified.
bool read_process(pid_t pid, std::span<iovec> ours, std::span<iovec> theirs) noexcept;

/// Collective over the ranks of `rings`. Each rank reads a nonce from the memory of every other one, so that a foreign
/// process with the same number (another pid namespace) is never touched. Returns true if all could read all; `pids`
/// then holds their process numbers, by rank.
bool all_can_read_all(NodeRings& rings, MPI_Comm node, std::span<pid_t> pids);

}  // namespace sluice::node
