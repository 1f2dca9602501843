// SPDX-License-Identifier: BSD-3-Clause
/// What moves bytes when it is looked at: everything on a context that its caller's waiting drives.
#pragma once

#include <algorithm>
#include <vector>

namespace sluice::engine {

class Pollable {
  public:
    /// Does what can be done without waiting; true when something moved.
    virtual bool poll() = 0;
    /// Nothing of the caller's runs, and only a peer can change that: what a bounded pool holds back may have to go on
    /// beyond it.
    virtual void stall() {}
    /// Something of it ends by itself, without a peer: a disk's work, for example.
    virtual bool is_under_way() const noexcept { return false; }
    /// Sleeps until something of that has ended, or for a moment.
    virtual void wait_a_moment() noexcept {}

  protected:
    ~Pollable() = default;
};

/// That something is being polled, for as long as this lives: who polls calls the program back, which may poll.
class Polling {
  public:
    explicit Polling(bool& now) noexcept : now_(&now) { now = true; }
    ~Polling() { *now_ = false; }
    Polling(Polling const&) = delete;
    Polling& operator=(Polling const&) = delete;

  private:
    bool* now_;
};

/// One for each context. Belongs to one thread. Pollables are not owned; each takes itself out before it dies.
class Progress {
  public:
    void add(Pollable& pollable) { pollables_.push_back(&pollable); }
    void remove(Pollable& pollable) noexcept { std::erase(pollables_, &pollable); }
    bool poll() {
        bool moved = false;
        // By index: a callback may add one.
        for (std::size_t i = 0; i < pollables_.size(); ++i)
            moved |= pollables_[i]->poll();
        return moved;
    }
    /// Nobody gives way while something ends by itself.
    void stall() {
        if (is_under_way()) return;
        for (std::size_t i = 0; i < pollables_.size(); ++i)
            pollables_[i]->stall();
    }

    bool is_under_way() const noexcept {
        return std::any_of(pollables_.begin(), pollables_.end(),
                           [](Pollable const* pollable) { return pollable->is_under_way(); });
    }

    /// For who has nothing to do: sleeps where something ends by itself. False where nothing does.
    bool wait_a_moment() noexcept {
        auto const at = std::ranges::find_if(pollables_, &Pollable::is_under_way);
        if (at == pollables_.end()) return false;
        (*at)->wait_a_moment();
        return true;
    }

  private:
    std::vector<Pollable*> pollables_;
};

}  // namespace sluice::engine
