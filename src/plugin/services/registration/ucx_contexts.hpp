// SPDX-License-Identifier: BSD-3-Clause
/// The contexts of UCX that the MPI makes in MPI_Init. The plugin stands before the two functions of UCX that make and
/// end them: a context tells none of its owner, and only when it is made can it be shared with a second thread.
///
///     MPI ── ucp_init_version ──> plugin: shared between threads ──> UCX
#pragma once

namespace sluice::plugin {

/// Before MPI_Init. From here on contexts are made so that another thread may register memory in them.
void share_ucx_contexts() noexcept;

/// The context that the MPI sends messages by; null if there is none, or it is not shared.
void* ucx_context_of_messages() noexcept;

}  // namespace sluice::plugin
