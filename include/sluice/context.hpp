// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The entry of a program into the library: one Context for each communicator that it uses the library on.
#pragma once

#include <mpi.h>

#include <memory>
#include <utility>

#include "sluice/budget.hpp"
#include "sluice/export.h"
#include "sluice/settings.hpp"

namespace sluice {

namespace engine {
class ContextState;
}

/// The library on one communicator. Its traffic runs on a private communicator made by
/// group creation: no attribute callback, error handler or hint of the user's is inherited.
///
/// Lifetime: objects that are made on a context (Plan, Store, Tasks, PagedFile) keep what they need of it, so it may be
/// destroyed before them; its communicator is freed with the last of them. All of them must be destroyed before
/// MPI_Finalize: what is destroyed later calls MPI no more, and says so in one line on standard error. Calls on a
/// context that was moved from, and calls after MPI_Finalize, throw Error invalid_argument.
///
/// Threads: one thread at once may use a context and the objects made on it, which threads may take turns to do; a
/// second one inside gets Error invalid_argument. rank(), size(), settings() and budget() may be called by all threads
/// at any time. MPI_THREAD_MULTIPLE is not needed, unless threads use different contexts at once.
///
/// Memory: constant, plus the rings of the node (a part of Settings::staging) from the first redistribution on.
class SLUICE_API Context {
  public:
    /// Collective over `comm`.
    /// @param comm     the ranks that will use the library together, no inter-communicator; it may be freed afterwards
    /// @param settings this rank's settings; what must be equal on all ranks is checked at its use
    /// @throws Error on every rank: invalid_argument if the settings of one rank are invalid, mpi if MPI fails,
    ///         out_of_memory. On the calling rank alone, at once: invalid_argument for MPI_COMM_NULL, before MPI_Init
    ///         and after MPI_Finalize.
    explicit Context(MPI_Comm comm, Settings settings = Settings::from_environment());
    /// Frees the private communicator, unless objects that were made on the context live. Collective over its ranks.
    ~Context();
    Context(Context&&) noexcept;
    Context& operator=(Context&&) noexcept;

    /// This rank's number in the communicator that the context was made on.
    /// @throws Error invalid_argument if the context was moved from; so do the other members
    int rank() const;
    /// The number of ranks.
    int size() const;
    /// The settings that the context was made with.
    Settings const& settings() const;
    /// The budget of this process, shared by all its Contexts.
    Budget& budget() const;

  private:
    friend class engine::ContextState;
    explicit Context(std::shared_ptr<engine::ContextState> state) noexcept : state_(std::move(state)) {}
    std::shared_ptr<engine::ContextState> state_;
};

}  // namespace sluice
