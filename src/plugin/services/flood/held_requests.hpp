// SPDX-License-Identifier: BSD-3-Clause
/// Requests of nonblocking sends that are marks. Their message has left from a copy; their completion is what is held.
///
///     MPI_Isend          ── due ──> mark; the program gets a ticket (services/requests/ticket.hpp)
///     MPI_Start          ── due ──> mark; the persistent request stays inactive in MPI, a ticket is its part
///     a second one due   ── hold of the first over, or the rule for bursts lets go ──> as above
///     MPI_Wait, Test, …  ── hold over? ── MPI_Grequest_complete ──> MPI's own call completes the request
///
/// Each is registered with the owned requests, so other services know that MPI alone does not complete it, and a call
/// from inside another one that asks for it, where no link acts, ends its hold. There are few at a time; with more the
/// sends go as they are.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>

#include "plugin/services/flood/control.hpp"

namespace sluice::plugin {

class HeldRequests {
  public:
    static constexpr std::size_t k_most = 64;

    HeldRequests(Job& job, FloodControl& control) noexcept : job_(job), control_(control) {}

    bool empty() const noexcept { return held_.load(std::memory_order_acquire) == 0; }
    /// Sends the message; `request` becomes the program's. False: nothing was sent.
    bool isend(Call& call, Message const& message, MPI_Request* request);
    /// The same for a persistent request that is to start.
    bool start(Call& call, Message const& message, MPI_Request persistent);

    /// Completes those whose hold is over.
    void settle();
    /// Completes one, or all, whatever the rule says.
    void release(MPI_Request request) noexcept;
    void release_all() noexcept;
    /// Some of the program's requests are held.
    bool holds_any(MPI_Request const* requests, int count) const noexcept;
    /// When the first of them was.
    HoldRule::Time held_since() const noexcept;

  private:
    void wait_for_room(Call& call, Message const& message);
    bool has_room(int rank);

    struct Held {
        MPI_Request request = MPI_REQUEST_NULL;  // the program's; null: unused
        MPI_Request ticket = MPI_REQUEST_NULL;
        std::optional<Hold> hold;
    };
    Held* place() noexcept;
    bool begin(Call& call, Message const& message, Held& held);
    void keep(Held& held, MPI_Request request) noexcept;
    void complete(Held& held) noexcept;
    void let_go(Held& held) noexcept;

    Job& job_;
    FloodControl& control_;
    mutable std::mutex changing_;
    std::atomic<std::size_t> held_{0};
    std::array<Held, k_most> all_{};
};

}  // namespace sluice::plugin
