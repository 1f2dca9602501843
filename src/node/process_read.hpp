// SPDX-License-Identifier: BSD-3-Clause
/// One copy inside a node: reads of a peer's memory (process_vm_readv), and whether the kernel allows them.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <span>

#include "node/node_rings.hpp"

namespace sluice::node {

/// Reads `theirs` of process `pid` into `ours` (equal total lengths; at most IOV_MAX pieces each). Goes on after short
/// reads. False where the kernel refuses or the memory is not there; the content of `ours` is then unspecified.
bool read_process(pid_t pid, std::span<iovec> ours, std::span<iovec> theirs) noexcept;

/// Collective over the ranks of `rings`: each reads a nonce out of every other's memory, so that a foreign process with
/// the same number (another pid namespace) is never touched. True when all could read all; `pids` are then theirs, by
/// rank.
bool all_can_read_all(NodeRings& rings, MPI_Comm node, std::span<pid_t> pids);

}  // namespace sluice::node
