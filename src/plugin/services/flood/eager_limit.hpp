// SPDX-License-Identifier: BSD-3-Clause
/// Which messages an MPI sends before their receive is there. Larger ones wait for it by themselves.
#pragma once

#include <cstdint>

namespace sluice::plugin {

/// The largest limit that the MPIs have by default between nodes: that of Open MPI over tcp.
inline constexpr std::uint64_t k_eager_limit = 64 << 10;

/// The limit between ranks of one node, which the job's own settings of the MPI may raise: then it is k_eager_limit.
std::uint64_t eager_limit_within_a_node() noexcept;

}  // namespace sluice::plugin
