// SPDX-License-Identifier: BSD-3-Clause
/// Functions that a program calls at any time, also before it has loaded an MPI: nothing is said or decided for their
/// sake. A program without MPI that asks whether one of MPI's functions is there, by a weak reference or dlsym, finds
/// those of the plugin; then these tell that MPI was not initialized, and the time.
#pragma once

#include <atomic>
#include <ctime>

#include "plugin/binding/gate.hpp"
#include "plugin/wrappers/entry.hpp"

namespace sluice::plugin {

/// A function below us, which is looked for until it is found.
class Anytime {
  public:
    explicit constexpr Anytime(char const* name) noexcept : name_(name) {}

    template <class Answer, class... P>
    Answer call_or(Answer (*otherwise)(P...), P... passed) {
        void* function = function_.load(std::memory_order_acquire);
        if (function == nullptr) [[unlikely]]
            function_.store(function = function_below(name_), std::memory_order_release);
        if (function == nullptr) return otherwise(passed...);
        return reinterpret_cast<Answer (*)(P...)>(function)(passed...);
    }

  private:
    char const* name_;
    std::atomic<void*> function_{nullptr};
};

/// MPI_Initialized and MPI_Finalized.
inline int tell_no(Passed<int*> flag) noexcept {
    *static_cast<int*>(Argument{flag}) = 0;
    return 0;
}

inline double seconds(timespec const& time) noexcept {
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

inline double tell_time() noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return seconds(now);
}

inline double tell_tick() noexcept {
    timespec step{};
    clock_getres(CLOCK_MONOTONIC, &step);
    return seconds(step);
}

}  // namespace sluice::plugin
