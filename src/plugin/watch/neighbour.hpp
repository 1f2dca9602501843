// SPDX-License-Identifier: BSD-3-Clause
/// Watches the next rank of the node and writes into its record how its process ended: a process that is killed cannot,
/// and a handler of signals could be noticed by the program. It also says on standard error that the process has ended.
///
///     rank 0 ── pidfd ──> rank 1 ── pidfd ──> rank 2 ── pidfd ──> rank 0
#pragma once

#include <optional>

#include "budget/node_limit.hpp"
#include "kernel/helper_thread.hpp"
#include "kernel/process/end_of_process.hpp"
#include "plugin/watch/watch.hpp"

namespace sluice::plugin {

/// A job of the helper thread from construction to destruction.
class Neighbour final : public kernel::HelperThread::Job {
  public:
    /// `helper`: with a table of descriptors of its own, in which the pidfd is until the thread ends. All ranks of the
    /// node must have claimed their records. Watches nothing if there is no other rank on the node, or its process
    /// cannot be watched from here.
    Neighbour(kernel::HelperThread& helper, Watch& watch);
    Neighbour(Neighbour const&) = delete;
    Neighbour& operator=(Neighbour const&) = delete;
    ~Neighbour();

  private:
    kernel::HelperThread::Clock::duration run() noexcept override;
    void tell() noexcept;

    kernel::HelperThread& helper_;
    Watch& watch_;
    record::RankHead* head_;
    kernel::EndOfProcess process_;  // of the helper thread
    std::optional<budget::MemoryKills> kills_;
};

}  // namespace sluice::plugin
