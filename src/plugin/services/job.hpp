// SPDX-License-Identifier: BSD-3-Clause
/// What lives from MPI_Init to MPI_Finalize. A service gets it when it starts, a link through its call.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "budget/process_budget.hpp"
#include "chains.hpp"
#include "kernel/helper_thread.hpp"
#include "kernel/progress.hpp"
#include "mpi/mpi.hpp"
#include "plugin/binding/abort_handler.hpp"
#include "plugin/services/before_calls.hpp"
#include "plugin/services/program_threads.hpp"
#include "plugin/services/requests/owned_requests.hpp"
#include "plugin/services/running_services.hpp"
#include "plugin/watch/watch.hpp"
#include "record/counters.hpp"
#include "sluice/settings.hpp"

namespace sluice::plugin {

/// Made in MPI_Init. The object stays until the process ends, because MPI may be used up to its end.
struct Job {
    explicit Job(Settings asked, record::RecordFile record = {})
        : settings(std::move(asked)),
          memory(settings, budget::Files::opened),
          watch(std::move(record), memory.budget()) {}
    Job(Job const&) = delete;
    Job& operator=(Job const&) = delete;

    Settings settings;
    /// For jobs of services, which call no MPI; null once they have stopped.
    std::unique_ptr<kernel::HelperThread> helper_thread =
        std::make_unique<kernel::HelperThread>(kernel::HelperThread::Table::its_own);
    budget::ProcessBudget memory;  ///< all memory of Sluice whose size depends on the program is a lease of it
    Watch watch;
    Chains chains;
    OwnedRequests owned;
    RunningServices services;
    kernel::Progress progress;  ///< what calls of the program poll
    ProgramThreads threads;
    AbortHandler abort_handler;
    BeforeCalls before;     ///< services that act before each of them
    mpi::Communicator all;  ///< every rank, for our own traffic; null unless all ranks run under Sluice
    int rank = 0;           ///< in MPI_COMM_WORLD
    int size = 1;
    bool one_thread = true;                ///< the program has MPI_THREAD_MULTIPLE on no rank
    int thread_level = MPI_THREAD_SINGLE;  ///< what the MPI has given; the program may see a lower one
    pid_t process = getpid();
    std::int64_t taken_before_init = 0;  ///< anonymous bytes of Sluice outside its own mappings
    bool started = false;
    bool is_watched = false;  ///< calls of the program were watched or served
    bool ended = false;
    bool is_in_finalize = false;        ///< the wrapper of MPI_Finalize has called MPI
    bool reported = false;              ///< its report was gathered
    bool makes_report = false;          ///< this rank makes the report of its node, after MPI_Finalize
    std::string lines;                  ///< to be printed after MPI_Finalize
    bool speaks_for_strangers = false;  ///< the ranks do not know of each other: this one says what that costs
    std::atomic<bool> aborted{false};   ///< this rank has called MPI_Abort

    /// A figure of a service, which adds to it with add() (tally.hpp). It is in the record of the rank, and reports add
    /// it up over the ranks. `what` is in the plural: "calls compared".
    std::uint64_t& counter(std::string_view service, std::string_view what) noexcept {
        return record::counter_in(watch.record(), service, what);
    }

    /// Called by each watched call of the program. One load and one branch while nothing is registered.
    void poll() {
        if (!progress.empty() && !g_plugin.several_threads) [[unlikely]]
            progress.poll();
    }
};

}  // namespace sluice::plugin
