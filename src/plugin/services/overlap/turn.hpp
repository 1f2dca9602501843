// SPDX-License-Identifier: BSD-3-Clause
/// Which thread may call MPI now: the program's thread or the helper thread, which completes what is deferred. MPI has
/// MPI_THREAD_SERIALIZED. The program's thread takes the turn only while something is deferred, and the helper thread
/// only then calls MPI.
///
///     program's thread   ──[ call ]────────[ test ][ test ]──     waits for at most one test of the helper
///     helper thread      ──────────[ test ]──────────────────     takes the turn if it is free, else comes back later
///
/// A signal handler of the program could touch a page that only the helper thread can bring, while the thread that it
/// interrupts has the turn. So signals wait until the turn is given back.
#pragma once

#include <sched.h>

#include <atomic>

#include "kernel/thread/make_thread.hpp"

namespace sluice::plugin {

class Turn {
  public:
    /// For the helper thread.
    bool try_take() noexcept { return !taken_.exchange(true, std::memory_order_acquire); }
    /// For the program's thread, which mostly gets it at once.
    void take() noexcept {
        while (!try_take())
            sched_yield();
    }
    void give_back() noexcept { taken_.store(false, std::memory_order_release); }
    /// This thread has it: a call of MPI that it makes has come back to us, by a hook.
    bool is_mine() const noexcept { return t_has_turn; }

    /// For InTurn.
    static inline constinit thread_local bool t_has_turn __attribute__((tls_model("initial-exec"))) = false;

  private:
    std::atomic<bool> taken_{false};
};

/// The turn of the program's thread.
class InTurn {
  public:
    explicit InTurn(Turn& turn) noexcept : turn_(turn) {
        turn_.take();
        Turn::t_has_turn = true;
    }
    InTurn(InTurn const&) = delete;
    InTurn& operator=(InTurn const&) = delete;
    ~InTurn() {
        Turn::t_has_turn = false;
        turn_.give_back();
    }

  private:
    kernel::SignalsBlocked signals_;  // first in, last out
    Turn& turn_;
};

}  // namespace sluice::plugin
