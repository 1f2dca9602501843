// SPDX-License-Identifier: BSD-3-Clause
/// A communicator that a call may free. MPI overwrites the handle, so it is kept; and MPI may refuse, so the table is
/// told only after the call.
#pragma once

#include <mpi.h>

#include "plugin/binding/clock.hpp"
#include "plugin/watch/watch.hpp"

namespace sluice::plugin {

class Freeing {
  public:
    Freeing(Watch& watch, MPI_Comm const* comm) noexcept : watch_(watch) {
        if (comm == nullptr) return;
        comm_ = *comm;
        known_ = watch.communicators().find(comm_);
    }
    void done() noexcept { watch_.communicators().remove(comm_, known_, watch_.clock().us_since_start(ticks())); }

  private:
    Watch& watch_;
    MPI_Comm comm_{};
    Known known_;
};

}  // namespace sluice::plugin
