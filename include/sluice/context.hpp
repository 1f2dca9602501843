// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The entry of a program into the library: one Context for each communicator that it uses the library on.
#pragma once

#include <mpi.h>

#include <memory>

#include "sluice/budget.hpp"
#include "sluice/export.h"
#include "sluice/settings.hpp"

namespace sluice {

namespace engine {
class ContextState;
}

/// The library on one communicator. It must die before MPI_Finalize. Its traffic runs on a private communicator made by
/// group creation: no attribute callback, error handler or hint of the user's is inherited. One thread at once may use
/// a context and the objects made on it; MPI_THREAD_MULTIPLE is not needed. Memory: constant, plus the rings of the
/// node (a part of Settings::staging) from the first redistribution on.
class SLUICE_API Context {
  public:
    /// Collective over `comm`.
    /// @param comm     the ranks that will use the library together; it may be freed afterwards
    /// @param settings this rank's settings; what must be equal on all ranks is checked at its use
    /// @throws Error on every rank: invalid_argument if the settings of one rank are invalid, mpi if MPI fails,
    ///         out_of_memory
    explicit Context(MPI_Comm comm, Settings settings = Settings::from_environment());
    /// Frees the private communicator. Collective over the ranks of the context.
    ~Context();
    Context(Context&&) noexcept;
    Context& operator=(Context&&) noexcept;

    /// This rank's number in the communicator that the context was made on.
    int rank() const noexcept;
    /// The number of ranks.
    int size() const noexcept;
    /// The settings that the context was made with.
    Settings const& settings() const noexcept;
    /// The budget of this process, shared by all its Contexts.
    Budget& budget() const noexcept;

  private:
    friend class engine::ContextState;
    std::unique_ptr<engine::ContextState> state_;
};

}  // namespace sluice
