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

/// Created collectively over `comm` and owned by the caller; must die before MPI_Finalize. Its traffic runs on a
/// private communicator made by group creation: no attribute callback, error handler or hint of the user's is
/// inherited. Memory: constant, plus the rings of the node (a part of Settings::staging) from the first redistribution
/// on. Throws Error on every rank when one rank's settings are invalid or MPI fails.
class SLUICE_API Context {
  public:
    explicit Context(MPI_Comm comm, Settings settings = Settings::from_environment());
    ~Context();
    Context(Context&&) noexcept;
    Context& operator=(Context&&) noexcept;

    int rank() const noexcept;
    int size() const noexcept;
    Settings const& settings() const noexcept;
    /// The budget of this process, shared by all its Contexts.
    Budget& budget() const noexcept;

  private:
    friend class engine::ContextState;
    std::unique_ptr<engine::ContextState> state_;
};

}  // namespace sluice
