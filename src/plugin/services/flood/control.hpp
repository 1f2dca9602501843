// SPDX-License-Identifier: BSD-3-Clause
/// Bounds what this rank's small messages hold at their receivers, by marks (windows.hpp, marks.hpp).
///
///     send ── too small a sum since the last mark ──> as it is
///          └─ due: copy ── MPI_Issend ── hold until the mark before is matched, or the rule lets go ──> return
///
/// The send that is due has left before it is held, so the receiver may take it while it is held: what is waited for
/// is the mark before. A rank whose receiver is less than one spacing behind is never held.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>

#include "plugin/services/flood/held_time.hpp"
#include "plugin/services/flood/hold_rule.hpp"
#include "plugin/services/flood/marks.hpp"
#include "plugin/services/flood/receivers/questions.hpp"
#include "plugin/services/flood/receivers/receivers.hpp"
#include "plugin/services/flood/windows.hpp"

namespace sluice::plugin {

class Call;
class RootedCalls;
struct Job;

/// What a send waits for.
struct Hold {
    int rank;                    ///< of the receiver
    std::shared_ptr<Mark> mark;  ///< the one before; null: there is nothing to wait for
    HoldRule rule;
    HoldRule::Time begin;
    bool was_looked_at = false;
    HoldRule::Verdict verdict = HoldRule::Verdict::keep;  ///< of a burst
};

class FloodControl {
  public:
    /// Counters of the rank's record.
    struct Counts {
        std::uint64_t& marks;
        std::uint64_t& held;
        std::uint64_t& held_us;   ///< in which at least one send was held
        std::uint64_t& silent;    ///< let go, because the receiver completed no receive
        std::uint64_t& too_long;  ///< let go after the longest hold
        std::uint64_t& without_memory;
        std::uint64_t& answers;  ///< to ranks of other nodes that asked how far this one is
    };
    struct Terms {
        std::uint64_t share;
        HoldRule::Duration hold;
        int largest_tag;
    };

    FloodControl(Job& job, Terms terms, Counts counts);

    /// Counts a message of the program. It is given back if it is to be a mark.
    template <class Count>
    std::optional<Message> due(Call& call, void const* buffer, Count count, MPI_Datatype type, int destination, int tag,
                               MPI_Comm comm) noexcept {
        if (count < 0 || destination < 0 || buffer == nullptr) return std::nullopt;
        return due_message(call, {buffer, static_cast<int>(count), type, destination, tag, comm, 0, true}, count);
    }
    int largest_tag() const noexcept { return terms_.largest_tag; }
    /// Sends it; nothing if that cannot be: then it goes as the program says.
    std::optional<Hold> send(Call& call, Message const& message);
    /// Waits until the hold is over.
    void wait(Hold& hold);
    /// Looks once whether it is.
    bool is_over(Hold& hold);
    /// Ends the hold whatever the receiver does.
    void release(Hold const& hold) noexcept;
    /// In MPI_COMM_WORLD; −1: it is not known, or not one that can be flooded.
    int receiver_of(Call& call, Message const& message) const noexcept;
    /// Holds a burst of nonblocking sends to a receiver as long as `is_held()`, which looks at those that are held, and
    /// the receiver completes receives.
    template <class IsHeld>
    void hold_burst(int rank, IsHeld const& is_held) {
        auto burst = begin_burst(rank);
        if (!burst) return;
        Left const left(*this, *burst);
        while (is_held() && !is_let_go(*burst))
            pause(burst->begin);
        end_burst(*burst);
    }
    /// Lets the processor do something else, the longer the caller has waited since `begin`.
    static void pause(HoldRule::Time begin) noexcept;
    /// A receive of the program is complete.
    void received() noexcept;
    /// Tells a rank of another node that asks how far this one is; at each call of the program.
    void reply();

    /// In MPI_Finalize, by all ranks: MPI moves until all have come.
    void finish(MPI_Comm all, RootedCalls& rooted);

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr HoldRule::Duration k_first_patience = std::chrono::milliseconds(10);

    /// Ends a hold that a function of the program leaves by an exception, out of MPI.
    class Left {
      public:
        Left(FloodControl& control, Hold const& hold) noexcept : control_(control), hold_(hold) {}
        Left(Left const&) = delete;
        Left& operator=(Left const&) = delete;
        ~Left();

      private:
        FloodControl& control_;
        Hold const& hold_;
        int const before_ = std::uncaught_exceptions();
    };

    void count_end(HoldRule::Time now) noexcept;
    std::optional<Message> due_message(Call& call, Message message, MPI_Count count) noexcept;
    std::optional<std::uint64_t> completed(int rank);
    bool is_eager(SendWindow<Mark>& window, std::uint64_t bytes) noexcept;
    std::optional<Hold> begin_burst(int rank);
    bool is_let_go(Hold& burst);
    void end_burst(Hold const& burst) noexcept;
    void adapt(SendWindow<Mark>& window, Hold const& hold, HoldRule::Duration waited) noexcept;
    void ends(Hold const& hold, HoldRule::Verdict verdict, HoldRule::Time now) noexcept;

    Job& job_;
    Terms terms_;
    Counts counts_;
    std::mutex changing_;
    HeldTime held_time_;
    SendWindows<Mark> windows_;
    Marks marks_;
    Receivers receivers_;
    Questions questions_;
    std::uint64_t const reply_pause_;  // in ticks
    std::uint64_t replied_at_ = 0;
    std::uint64_t const eager_within_node_;
};

}  // namespace sluice::plugin
