// SPDX-License-Identifier: BSD-3-Clause
/// One turn of the helper: what is told is learnt, what is not needed is given back, what will be needed is registered.
///
///     main thread ── EventQueue ──> take one: learn ──> DueQueue, by deadline ──> register when it can wait no longer
///                                      │ give back, if there is time to register again      │ not used by then: give
///                                      back v                                                    v
///                                    Cache <────────────────────────────────────────────── Cache
///
/// No thread and no MPI: whatever calls work() is the helper. The queues are served in turns (Li et al. 2011, section
/// 3.2), each time under the condition now + processing ≤ deadline. Allocates in the constructor, and in a predictor
/// until that is full.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "memory/registration/cache.hpp"
#include "memory/registration/cost_model.hpp"
#include "memory/registration/due_queue.hpp"
#include "memory/registration/event_queue.hpp"
#include "memory/registration/margin.hpp"
#include "memory/registration/predict/accuracy.hpp"
#include "memory/registration/predict/predictor.hpp"

namespace sluice::memory::registration {

struct HelperOptions {
    std::uint64_t least_bytes = 16 * 1024;  ///< smaller messages are not served
    Time reaction{0};  ///< how long after an event, or after the moment it asked for, work() is called at the latest
};

/// Why messages found their buffer not registered, each counted once. The first is the program's, the others are faults
/// of the prediction, of the helper, or of what there is room for.
struct Unprepared {
    std::uint64_t unknown = 0;      ///< nothing like it was seen twice
    std::uint64_t given_up = 0;     ///< its prediction had been given up, or lost its place
    std::uint64_t unannounced = 0;  ///< the message that announces it came too late, or not
    std::uint64_t early = 0;        ///< it came before its registration was to begin
    std::uint64_t late = 0;         ///< the helper had not come to it
    std::uint64_t refused = 0;      ///< registered ahead was not possible, would have raised the peak, or was undone

    std::uint64_t all() const noexcept { return unknown + given_up + unannounced + early + late + refused; }
};

struct HelperCounters {
    std::uint64_t events = 0;
    std::uint64_t kept = 0;            ///< regions left registered, because the next use is too near
    std::uint64_t guesses_denied = 0;  ///< guesses that would have raised the peak, or had to make way
    std::uint64_t failed = 0;          ///< registrations that the registrar or the limit refused
    std::uint64_t spread = 0;          ///< registrations begun earlier because of near neighbours
    Unprepared unprepared;
};

class Helper {
  public:
    /// What it is given outlives it; `tables` grants what it needs itself.
    Helper(EventQueue& events, Cache& cache, Predictor& predictor, Costs const& costs, HelperOptions options,
           Budget const& tables);

    struct Turn {
        Time spent{};  ///< what this turn took, by the registrar and the model of the steps
        Time until{};  ///< there is nothing to do before, unless an event comes; k_never: nothing at all
    };
    /// Does at most one item of each queue.
    Turn work(Time now);

    Accuracy const& accuracy() const noexcept { return accuracy_; }
    HelperCounters const& counters() const noexcept { return counters_; }
    Costs const& costs() const noexcept { return costs_; }

  private:
    struct Lingering {
        Range range;
        Time until{};
    };

    // Each works at `clock_`, which it moves on by what it spends.
    void take_event(Event const& event);
    void learn(Event const& event);
    void count_unprepared(Event const& event, Due const* due) noexcept;
    void learn_margin(Event const& event, Due const& due) noexcept;
    void put(Prediction const& prediction);
    /// A range without a known next use stays for as long as registering it again would take, if it `may_linger`.
    void consider_giving_back(Range range, bool may_linger);
    void linger(Range range);
    void end_lingering();
    void look_for_strays();
    void sweep();
    void give_up_overdue();
    void register_due();
    void register_ahead(Due& due);
    void make_way_for(Due const& due);
    void find_begins();
    bool would_raise_peak(Range range) const noexcept;
    /// When a pending registration is to begin, as things are.
    Time moment_of(Due const& due) const noexcept {
        return due.early < due.begin && !would_raise_peak(due.prediction.range) ? due.early : due.begin;
    }
    Time next_moment() const;
    Time add_cost(Range range) const noexcept { return costs_.add.of(pages_of(range)); }
    Time remove_cost(Range range) const noexcept { return costs_.remove.of(pages_of(range)); }
    Time to_register_again(Range range) const noexcept;
    void give_back(Range range);
    void give_back_inside(Range range);

    EventQueue* events_;
    Cache* cache_;
    Predictor* predictor_;
    Costs costs_;
    HelperOptions options_;
    DueQueue due_;
    Margin margin_;
    std::vector<Prediction> predictions_;
    Time clock_{};
    bool begins_known_ = false;
    std::array<Lingering, 64> lingering_{};  // a ring
    std::uint64_t lingering_first_ = 0;
    std::uint64_t lingering_end_ = 0;
    Time swept_{};
    std::uint64_t dropped_seen_ = 0;
    Accuracy accuracy_;
    HelperCounters counters_;
};

}  // namespace sluice::memory::registration
