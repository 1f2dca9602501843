// SPDX-License-Identifier: BSD-3-Clause
/// A communicator that a call may free. MPI overwrites the handle, so it is kept; and MPI may refuse, so the table is
/// told only after the call.
#pragma once

#include <mpi.h>

#include "plugin/watch/call.hpp"

namespace sluice::plugin {

class Freeing {
  public:
    Freeing(Call& call, MPI_Comm const* comm) noexcept : call_(call) {
        if (comm == nullptr) return;
        comm_ = *comm;
        known_ = call.watch().communicators().find(comm_);
    }
    void done() noexcept { call_.frees(comm_, known_); }

  private:
    Call& call_;
    MPI_Comm comm_{};
    Known known_;
};

}  // namespace sluice::plugin
