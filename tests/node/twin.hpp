// SPDX-License-Identifier: BSD-3-Clause
/// Another process that has a copy of this one's memory, so addresses and nonces of before are good in it.
#pragma once

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "node/remote_memory.hpp"

namespace sluice::tests {

class Twin {
  public:
    Twin() : pid_(fork()) {
        while (pid_ == 0)
            pause();
    }
    ~Twin() {
        if (pid_ <= 0) return;
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    Twin(Twin const&) = delete;
    Twin& operator=(Twin const&) = delete;

    /// The card that the twin's copy of `door` would give.
    node::AccessCard card(node::RemoteMemory const& door) const {
        node::AccessCard card = door.card();
        card.pid = pid_;
        return card;
    }

  private:
    pid_t pid_;
};

}  // namespace sluice::tests
