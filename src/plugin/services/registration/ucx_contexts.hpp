// SPDX-License-Identifier: BSD-3-Clause
/// The contexts of UCX that the MPI makes in MPI_Init. The plugin stands before the two functions of UCX that make and
/// end them: a context tells none of its owner, and only when it is made can it be shared with a second thread.
///
///     MPI ── ucp_init_version ──> plugin: shared between threads; cache with a limit ──> UCX
#pragma once

#include <cstdint>

namespace sluice::plugin {

/// Before MPI_Init. From here on contexts are made so that another thread may register memory in them. `most` bytes
/// are kept in a context's cache of registrations at most; the user's own limit (UCX_IB_RCACHE_MAX_SIZE) goes before it.
void share_ucx_contexts(std::uint64_t most) noexcept;

/// The context that the MPI sends messages by; null if there is none, or it is not shared.
void* ucx_context_of_messages() noexcept;

}  // namespace sluice::plugin
