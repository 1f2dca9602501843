// SPDX-License-Identifier: BSD-3-Clause
/// Says on standard error, in one line, when a rank has waited long, and for what. It ends nothing.
///
///     looks ──> a wait is found ──> it is old: its owner is asked ──> the answer is here, or none came ──> told
///                                                                     (another line only after twice the time)
///
/// Only time in which the rank looks counts, so a rank that computes does not wait. Nothing is sent before a wait is
/// old.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/wait_clock.hpp"
#include "fetch/wire.hpp"
#include "sluice/fetch.hpp"

namespace sluice::fetch {

class Fetching;
class Receiving;
class Serving;

/// What a rank waits for, found by a part of its store.
struct LongWait {
    enum class For : std::uint8_t { data, sent_data, readers };
    For what = For::data;
    double since = 0;  ///< when it was found first
    Key key;
    std::weak_ptr<void const> waiting;  ///< gone when the wait has ended
    int have = 0;                       ///< readers that have the data
    int readers = 0;
};

/// The oldest wait that was found.
class OldestWait {
  public:
    explicit OldestWait(double now) : now_(now) {}
    /// `seen` is what the wait remembers, negative at first.
    bool is_older(double& seen) const noexcept {
        if (seen < 0) seen = now_;
        return !wait_ || seen < wait_->since;
    }
    void set(LongWait&& wait) { wait_ = std::move(wait); }
    std::optional<LongWait> const& get() const noexcept { return wait_; }

  private:
    double now_;
    std::optional<LongWait> wait_;
};

class LongWaits {
  public:
    /// What an owner answers, in the bytes of Kind::state.
    enum class State : std::uint64_t { not_published, waits_for_memory, is_brought, is_on_its_way, is_published };

    /// `after`: seconds; 0: never.
    LongWaits(Wire& wire, Fetching& fetching, Serving& serving, Receiving& receiving, double after)
        : wire_(&wire), fetching_(&fetching), serving_(&serving), receiving_(&receiving), after_(after) {}
    LongWaits(LongWaits const&) = delete;
    LongWaits& operator=(LongWaits const&) = delete;

    /// Each poll calls it on the thread of the program.
    void look();
    void answered(State state) noexcept;
    /// Whether a question has no answer yet.
    bool is_asking() const noexcept { return unanswered_ > 0; }
    /// The lines so far.
    std::uint64_t lines() const noexcept { return lines_; }
    /// For tests: tells after `seconds`, but waits for the owner's answer, for as long as it takes.
    void tell_after(double seconds) noexcept {
        after_ = seconds;
        next_sweep_ = 0;
        waits_for_answers_ = true;
    }

  private:
    void sweep();
    bool has_answer(LongWait const& wait);
    void ask(LongWait const& wait);
    void tell(LongWait const& wait);
    std::string text_of(LongWait const& wait) const;

    Wire* wire_;
    Fetching* fetching_;
    Serving* serving_;
    Receiving* receiving_;
    double after_;
    engine::WaitClock clock_;
    double next_sweep_ = 0;
    unsigned looks_ = 0;
    std::optional<LongWait> asked_;  // the wait whose owner was asked
    double asked_at_ = 0;
    std::optional<State> answer_;
    std::weak_ptr<void const> told_;  // the wait that has its line
    std::uint64_t unanswered_ = 0;
    bool waits_for_answers_ = false;
    std::uint64_t lines_ = 0;
};

}  // namespace sluice::fetch
