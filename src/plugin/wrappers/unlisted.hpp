// SPDX-License-Identifier: BSD-3-Clause
/// What the wrappers of functions do that are not watched: services act before them, if one has registered for that.
#pragma once

#include "plugin/binding/gate.hpp"
#include "plugin/services/job.hpp"

namespace sluice::plugin {

/// Two loads and two branches while nothing is registered.
[[gnu::always_inline]] inline bool acts_before() noexcept {
    Job const* const job = g_plugin.watched.load(std::memory_order_acquire);
    return job != nullptr && !job->before.empty() && !is_inside();
}

/// Lets services act before a function, and lets calls pass that come from inside it: from a function of the program
/// that it runs. On the stack of the wrapper.
class ActingBefore {
  public:
    explicit ActingBefore(char const* function) {
        if (Job* const job = g_plugin.watched.load(std::memory_order_acquire))
            job->before.run_unwatched(*job, function);
    }

  private:
    Inside const inside_;
};

/// For functions that do other things beside.
[[gnu::always_inline]] inline void act_before(char const* function) {
    if (acts_before()) [[unlikely]] {
        ActingBefore const acting(function);
    }
}

}  // namespace sluice::plugin
