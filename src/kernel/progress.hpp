// SPDX-License-Identifier: BSD-3-Clause
/// Polls everything that moves data: of a context while its caller waits, of the plugin at the calls of the program.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "kernel/endless_waits.hpp"

namespace sluice::kernel {

class Pollable {
  public:
    /// Does the work that is possible without waiting; returns true if data moved.
    virtual bool poll() = 0;
    /// Called when no work of the caller runs and only a peer can change that: a bounded pool may then have to let a
    /// held-back task go on beyond its bound.
    virtual void stall() {}
    /// Returns true if some of its work completes without a peer, such as a disk's.
    virtual bool is_under_way() const noexcept { return false; }
    /// Sleeps until some of that work has completed, or for a moment.
    virtual void wait_a_moment() noexcept {}
    /// Says which tasks wait for what only another task of this rank can make. Whatever may still run code of the
    /// program, or resume a task, is said by `may_end`: a pollable that does not answer may do anything.
    virtual void tell_endless(EndlessWaits& waits) { waits.may_end(); }
    /// A task has ended by an exception with this text, so peers must not wait for what is still to be made; empty: the
    /// program goes on, so they may again.
    virtual void give_up(std::string const& /*why*/) {}

  protected:
    ~Pollable() = default;
};

/// Marks a pollable as being polled, as long as this object lives: a poll may call the program, and the program may
/// poll again.
class Polling {
  public:
    explicit Polling(bool& now) noexcept : now_(&now) { now = true; }
    ~Polling() { *now_ = false; }
    Polling(Polling const&) = delete;
    Polling& operator=(Polling const&) = delete;

  private:
    bool* now_;
};

/// One object for each context, and one for the job of the plugin. Belongs to one thread. Pollables are not owned; each
/// removes itself before it dies.
class Progress {
  public:
    void add(Pollable& pollable) {
        pollables_.push_back(&pollable);
        is_empty_ = false;
    }
    void remove(Pollable& pollable) noexcept {
        std::erase(pollables_, &pollable);
        is_empty_ = pollables_.empty();
    }
    /// One load: the plugin asks it at each call of the program.
    bool empty() const noexcept { return is_empty_; }
    bool poll() {
        bool moved = false;
        // The loop is by index, because a callback may add a pollable.
        for (std::size_t i = 0; i < pollables_.size(); ++i)
            moved |= pollables_[i]->poll();
        return moved;
    }
    /// No pollable gives way while some work completes by itself.
    void stall() {
        if (is_under_way()) return;
        for (std::size_t i = 0; i < pollables_.size(); ++i)
            pollables_[i]->stall();
    }

    void tell_endless(EndlessWaits& waits) {
        for (std::size_t i = 0; i < pollables_.size() && waits.all_are_endless(); ++i)
            pollables_[i]->tell_endless(waits);
    }

    void give_up(std::string const& why) {
        for (std::size_t i = 0; i < pollables_.size(); ++i)
            pollables_[i]->give_up(why);
    }

    bool is_under_way() const noexcept {
        return std::any_of(pollables_.begin(), pollables_.end(),
                           [](Pollable const* pollable) { return pollable->is_under_way(); });
    }

    /// Called when idle. Sleeps if some pollable (a disk) will complete without a peer; returns false if there is none.
    bool wait_a_moment() noexcept {
        auto const at = std::ranges::find_if(pollables_, &Pollable::is_under_way);
        if (at == pollables_.end()) return false;
        (*at)->wait_a_moment();
        return true;
    }

  private:
    std::vector<Pollable*> pollables_;
    bool is_empty_ = true;
};

}  // namespace sluice::kernel
