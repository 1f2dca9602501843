// SPDX-License-Identifier: BSD-3-Clause
/// A capability of the plugin. The job starts those that are wanted in MPI_Init and stops them in MPI_Finalize; between
/// them a service acts through its links (chains.hpp).
///
///     MPI_Init ── wanted? ── agreed by all ranks? ── start ── … links … ── stop ── MPI_Finalize
#pragma once

#include <memory>
#include <vector>

#include "kernel/progress.hpp"

namespace sluice::plugin {

struct Job;

/// What a service needs before it can start.
enum class Needs {
    nothing,     ///< each rank decides for itself
    all_ranks,   ///< all ranks run under Sluice and want it; they start and stop it together
    one_thread,  ///< that, and no rank has MPI_THREAD_MULTIPLE
};

enum class Ending {
    finalize,  ///< every rank that started the service stops it, and MPI can still be used
    exit,      ///< the process ends without MPI_Finalize; MPI must not be used
};

/// A service that needs to be polled registers itself, job.progress.add(*this), and removes itself when nothing is left
/// to do. While it is registered, each call of the program polls it before its links run. It needs Needs::one_thread:
/// with MPI_THREAD_MULTIPLE no call polls.
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
    /// What this rank's settings say.
    virtual bool wanted(Job const& job) const noexcept = 0;
    /// Gets its counters, if it has any, by job.counter(name(), "calls compared").
    virtual void start(Job& job) = 0;
    /// In place of start() if it needs one thread and a rank has MPI_THREAD_MULTIPLE: it serves nothing, and counts
    /// what it would have served. stop() follows.
    virtual void leave_to_mpi(Job&) {}
    virtual void stop(Job& job, Ending ending) = 0;
    /// In a process that the program forked, which has none of our threads; no link runs there.
    virtual void in_child() noexcept {}
    bool poll() override { return false; }
};

using Services = std::vector<std::unique_ptr<Service>>;

/// Makes all services, in the order in which they start; the links of a function follow each other in this order, too.
Services make_services();

}  // namespace sluice::plugin
