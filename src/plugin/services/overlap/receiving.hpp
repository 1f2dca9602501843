// SPDX-License-Identifier: BSD-3-Clause
/// Receives that return, and requests that are complete, when their message is matched. After Iancu, Husbands,
/// Hargrove: HUNTing the overlap (PACT 2005), whose waits end at the first touch of the data; here the plain message is
/// received, with nothing asked of its sender.
///
///     MPI_Recv ── could be deferred? ── match (MPI_Mprobe) ── pages aside ── MPI_Imrecv into them ── return
///                     │ no                                        │ no
///                     └── MPI_Recv                                └── MPI_Mrecv
///
///     MPI_Irecv ── could be deferred? ── held, with a ticket for the program ── match … as above, while it computes
///     MPI_Wait(all) ── returns when the message is matched
///
/// A return proves to the program that its message was sent: so a receive never returns before it is matched. What is
/// matched settles order, wildcards, length and status.
///
/// While a receive is under way other calls of MPI are of two kinds (goes_beside). Those that go beside it run in the
/// program's turn, the blocking ones as a loop of tests; what their arguments touch is complete before. All others,
/// which may run code of the program inside MPI, or tell others that data are there, begin when nothing is under way.
#pragma once

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <cstdint>

#include "functions.hpp"
#include "kernel/guards/guarded_pages.hpp"
#include "pages/pages.hpp"
#include "plugin/services/overlap/deferred_receives.hpp"
#include "plugin/services/overlap/gains.hpp"
#include "plugin/services/overlap/node_mates.hpp"
#include "plugin/services/overlap/whole_pages.hpp"
#include "plugin/watch/touched_memory.hpp"

namespace sluice::plugin {

class Call;
struct Job;

/// A message that a receive has got, and not yet its data.
struct Matched {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status{};
    MPI_Comm comm = MPI_COMM_NULL;
    bool sends = false;  ///< the same call sends, and MPI may still read what it sends
};

/// A sum of times that may overlap: several receives that are under way at once hide the same waiting.
class TimeOnce {
  public:
    using Clock = DeferredReceive::Clock;
    /// The part of [from, to) that was not counted yet; less where the times do not come in their order.
    Clock::duration add(Clock::time_point from, Clock::time_point to) noexcept {
        Clock::time_point const begin = std::max(from, counted_to_);
        if (to <= begin) return Clock::duration::zero();
        counted_to_ = to;
        return to - begin;
    }

  private:
    Clock::time_point counted_to_{};
};

/// The call may run while a receive is under way.
bool goes_beside(Function function) noexcept;

class Receiving final : private DeferredReceives::Listener {
  public:
    /// Counters of the rank's record: what became of receives of `least` bytes and more.
    struct Counts {
        std::uint64_t& deferred;
        std::uint64_t& short_messages;  ///< the message was shorter than `least`
        std::uint64_t& same_node;
        std::uint64_t& without_gain;
        std::uint64_t& other_data;  ///< in the pages of the buffer
        std::uint64_t& refused;     ///< memory that cannot wait
        std::uint64_t& not_fatal;   ///< errors are not fatal on the communicator
        std::uint64_t& with_windows;
        std::uint64_t& other_types;  ///< datatypes with gaps, or not known
        std::uint64_t& callbacks;    ///< a nonblocking reduction may run an operation of the program in any call
        std::uint64_t& background;   ///< nonblocking: the data came into pages aside before the program waited
        std::uint64_t& posted;       ///< nonblocking: MPI got it before its match, to keep the order
        std::uint64_t& no_place;     ///< too many are under way
    };
    struct Terms {
        std::uint64_t least;  ///< bytes of a message that is deferred
        bool learns;          ///< leaves alone what does not win
    };

    /// Throws Error(unsupported) without a thread. All must outlive this object. `library`: null if it is not loaded.
    Receiving(Job& job, kernel::GuardedPages& guards, pages::Interface const* library, Terms terms, Counts counts);
    ~Receiving() = default;

    bool any() const noexcept { return receives_.any(); }
    DeferredReceives& receives() noexcept { return receives_; }
    DeferredReceives const& receives() const noexcept { return receives_; }

    /// Before a call of the program.
    void before(Function function, TouchedBy const& touched);
    void before_unwatched(char const* name);
    void sets_handler(MPI_Errhandler handler) noexcept;

    /// A nonblocking receive that may be deferred: it is held, and `request` is the program's. False if MPI is to have
    /// it.
    bool hold(Call& call, void* buffer, int count, MPI_Datatype type, Envelope const& envelope,
              MPI_Request* request) noexcept;
    /// A receive or a probe comes: no held receive that goes before it stays held.
    void comes(Envelope const& envelope) {
        if (any() && receives_.holds_for(envelope)) post_held();
    }

    /// A receive of these arguments may be deferred once it is matched. Its first test turns small ones down.
    bool may_defer(Call& call, void const* buffer, int count, MPI_Datatype type, int source, MPI_Comm comm) noexcept;
    /// Waits for a message. `meanwhile` is a request that is tested as well, or null.
    int match(int source, int tag, MPI_Comm comm, Matched& matched, MPI_Request* meanwhile);
    /// Receives what was matched: returns at once, or with the data where they cannot be deferred.
    int land(Call& call, void* buffer, int count, MPI_Datatype type, Matched const& matched, MPI_Status* status);

    /// A call that waits for these requests may be MPI's own: it needs no turn, and none of them is ours to complete.
    bool may_wait_in_mpi(MPI_Request const* requests, int n) const noexcept {
        return !any() || (receives_.is_alone() && !receives_.has_to_complete(requests, n));
    }

    /// While the helper thread calls no MPI the program's thread needs no turn: so functions of the program that MPI
    /// calls, which may leave it by a jump, run without one (before()).
    template <class Action>
    int in_turn(Action const& action) noexcept(noexcept(action())) {
        if (receives_.is_alone()) return action();
        InTurn const turn(receives_.turn());
        return action();
    }
    /// Calls `ask(int* done)` in the turn until it is done or fails; lets go of the turn in between.
    template <class Ask>
    int until_done(Ask const& ask) {
        for (;;) {
            int done = 0;
            int const code = in_turn([&] {
                receives_.advance();
                return ask(&done);
            });
            if (code != MPI_SUCCESS || done != 0) return code;
            sched_yield();
        }
    }

    /// The same for a call that completes `requests`. `early`: it may return when their messages are matched.
    template <class Ask>
    int until_complete(bool early, MPI_Request const* requests, int n, Ask const& ask) {
        receives_.waiting().begin();
        int const code = until_done([&](int* done) {
            if (early && !runs_callbacks_ && !reduces_) receives_.return_matched(requests, n);
            return ask(done);
        });
        receives_.waiting().end();
        return code;
    }

  private:
    void landed(DeferredReceive const& receive) noexcept override;
    bool takes_aside(DeferredReceive& receive) noexcept override;
    bool take_pages(DeferredReceive& receive, Landing const& landing, bool none_active,
                    std::uint64_t*& why_not) noexcept;
    void post_held();
    bool are_errors_fatal(MPI_Comm comm) noexcept;
    bool is_mate(int world_rank) noexcept;
    bool has_windows() noexcept;
    bool has_no_active_request() noexcept;
    bool is_used(void const* buffer, std::uint64_t room) noexcept;
    int receive_now(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status);
    bool defer(Call& call, std::byte* buffer, int count, MPI_Datatype type, Matched& matched);
    bool turned_down(std::uint64_t& count, Call const& call) noexcept;

    Job& job_;
    kernel::GuardedPages& guards_;
    pages::Interface const* library_;
    Terms terms_;
    Counts counts_;
    Gains gains_;
    TimeOnce hidden_;
    TimeOnce left_;
    NodeMates mates_;
    bool runs_callbacks_ = false;  // MPI may call functions of the program in calls that go beside
    bool has_operations_ = false;  // of the program, for reductions
    bool reduces_ = false;  // beside what is under way: operations are run on the program's thread, and may throw
    bool may_return_errors_ = false;  // MPICH tells a test's error to the handler of MPI_COMM_WORLD
    bool loses_requests_ = false;  // a request may be active that no table knows, or MPI uses memory of its own accord
    DeferredReceives receives_;
};

}  // namespace sluice::plugin
