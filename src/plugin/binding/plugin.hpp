// SPDX-License-Identifier: BSD-3-Clause
/// What must exist before MPI_Init and after MPI_Finalize: the way to libmpi, and whether wrappers act. One struct,
/// which is complete as soon as the plugin is loaded, because a wrapper may be called before any constructor has run.
/// All else lives in the Job.
#pragma once

#include <atomic>
#include <mutex>
#include <type_traits>

#include "libmpi.hpp"
#include "plugin/binding/callers/wrapping_code.hpp"
#include "plugin/binding/dense_types.hpp"
#include "plugin/binding/pmix.hpp"

namespace sluice::plugin {

struct Job;

/// How far this rank is in declaring itself (job/declaration.hpp).
struct Declaration {
    enum class Stage { idle, armed, put };
    std::atomic<Stage> stage{Stage::idle};
    // The MPI's PMIx, known from its first commit until all ranks were looked up.
    void* library = nullptr;
    pmix::Get get = nullptr;
    /// By which the MPI ends the job: known from the same commit until MPI_Finalize.
    pmix::Abort abort = nullptr;
};

struct Plugin {
    /// Set last: a thread that sees it sees `acting`, `below` and `libmpi`, too.
    std::atomic<bool> located{false};
    /// MPI was found, once and of the kind this plugin was built for. Before that every call passes.
    bool acting = false;
    /// MPI was called, and nothing is loaded that has its functions.
    std::atomic<bool> called_in_vain{false};
    /// The process that started MPI by MPI_Session_init; 0: none did.
    std::atomic<int> with_sessions{0};
    /// The thread level that the program sees at most, if the MPI was asked for a higher one; -1: it was not.
    int level_of_program = -1;
    /// The program has started a generalized request: calls that complete requests run its functions.
    std::atomic<bool> has_generalized_requests{false};
    /// The program has MPI_THREAD_MULTIPLE. Set in MPI_Init before anything is watched.
    bool several_threads = false;
    /// The job whose calls are watched: from the end of MPI_Init to the start of MPI_Finalize. Null also where all that
    /// runs acts in calls that several ranks make together.
    std::atomic<Job*> watched{nullptr};
    /// The job that acts in these calls, in the same time.
    std::atomic<Job*> served{nullptr};
    /// Made in MPI_Init; lives as long as the process, because MPI may be used up to its end.
    Job* job = nullptr;

    std::mutex locating;
    Below below{};
    Libmpi libmpi{};
    WrappingCode wrapping{};
    DenseTypes dense_types{};
    Declaration declaration{};
};
static_assert(std::is_trivially_destructible_v<Plugin>, "a wrapper may be called after all destructors have run");

extern constinit Plugin g_plugin;

}  // namespace sluice::plugin
