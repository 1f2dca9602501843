// SPDX-License-Identifier: BSD-3-Clause
/// A capability of the plugin. The job starts those that are wanted in MPI_Init and stops them in MPI_Finalize; between
/// them a service acts through its links (chains.hpp), and before calls if it registers for that (before_calls.hpp).
///
///     thread_level ── MPI_Init ── wanted? ── prepare ── agreed by all ranks? ── start ── … links … ── stop
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernel/progress.hpp"
#include "plugin/watch/touched_memory.hpp"

namespace sluice {
struct Settings;
}

namespace sluice::plugin {

class Call;
struct Job;

/// What a service needs before it can start; without any of them each rank decides for itself.
struct Needs {
    bool all_ranks = false;   ///< all ranks run under Sluice and want it; they start and stop it together
    bool one_thread = false;  ///< the program has MPI_THREAD_MULTIPLE on no rank
    /// It acts only in collective calls and those that make communicators: without watching, the others pass.
    bool calls_of_many = false;
};

enum class Ending {
    finalize,  ///< every rank that started the service stops it, and MPI can still be used
    exit,      ///< the process ends without MPI_Finalize; MPI must not be used
};

/// A service that needs to be polled registers itself, job.progress.add(*this), and removes itself when nothing is left
/// to do. While it is registered, each call of the program polls it before its links run. It needs one_thread: with
/// MPI_THREAD_MULTIPLE no call polls.
class Service : public kernel::Pollable {
  public:
    Service() = default;
    Service(Service const&) = delete;
    Service& operator=(Service const&) = delete;
    virtual ~Service() = default;

    /// In the plural, as messages name what it does: "all-to-alls in place".
    virtual char const* name() const noexcept = 0;
    /// The setting that switches it, as settings.def names it.
    virtual char const* setting() const noexcept = 0;
    virtual Needs needs() const noexcept = 0;
    /// What this rank's settings say. Asked before MPI_Init, for the thread level, and after it.
    virtual bool wanted(Job const& job) const noexcept = 0;
    /// The level that the MPI is asked for, if the service is wanted: one of MPI_THREAD_…. The program goes on with its
    /// own level and sees no other. What the MPI has given is in Job::thread_level, for `prepare`.
    virtual int thread_level(Settings const&) const noexcept { return MPI_THREAD_SINGLE; }
    /// If it is wanted: right before MPI_Init, for what must be there while the MPI starts.
    virtual void before_init(Job&) noexcept {}
    /// Takes the memory and the descriptors that it needs, before the ranks agree; alone, without other ranks. Gives a
    /// reason if it cannot, which is said once on a node; an exception is a reason, too. The service is not wanted then
    /// on this rank. If the ranks do not agree, the service is destroyed.
    virtual std::optional<std::string> prepare(Job&) { return std::nullopt; }
    /// Has all that it needs. Gets its counters, if it has any, by job.counter(name(), "calls compared").
    virtual void start(Job& job) noexcept = 0;
    /// In place of start() if it needs one thread and a rank has MPI_THREAD_MULTIPLE: it serves nothing, and counts
    /// what it would have served. It may have been prepared. stop() follows.
    virtual void leave_to_mpi(Job&) noexcept {}
    virtual void stop(Job& job, Ending ending) = 0;

    /// While it is registered in job.before: before each watched call of the program, outside MPI. `call` names the
    /// function, `touched` the memory that the call may read and write. A service that calls MPI here lets pass what a
    /// function of the program throws meanwhile.
    virtual void before(Call&, TouchedBy const&) {}
    /// The same before a function of MPI that is not watched, which may touch anything.
    virtual void before_unwatched(Job&, char const* /*function*/) {}
    /// The program is about to fork.
    virtual void before_fork() noexcept {}
    /// It has forked: in the process itself.
    virtual void after_fork() noexcept {}
    /// In a process that the program forked, which has none of our threads; no link runs there.
    virtual void in_child() noexcept {}
    bool poll() override { return false; }
};

using Services = std::vector<std::unique_ptr<Service>>;

/// Makes all services, in the order in which they start; the links of a function follow each other in this order, too.
Services make_services();

}  // namespace sluice::plugin
