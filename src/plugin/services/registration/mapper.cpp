// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/registration/mapper.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>

namespace sluice::plugin {

using memory::registration::Helper;
using memory::registration::Time;

namespace {

constexpr int k_turns = 64;  // at a time: then it looks at the clock of the thread again
constexpr auto k_stays_awake = std::chrono::seconds(1);

Time since_epoch(Mapper::Clock::time_point at) noexcept {
    return std::chrono::duration_cast<Time>(at.time_since_epoch());
}

}  // namespace

Mapper::Clock::duration Mapper::run() noexcept {
    if (!is_free_) leave_processor_of_rank();
    std::lock_guard const lock(turn_);
    UcxRegistrar::Helping const helping;
    sleeps_.store(false, std::memory_order_relaxed);
    if (!events_.is_empty()) last_event_ = Clock::now();
    Helper::Turn turn;
    for (int turns = 0; turns < k_turns; ++turns) {
        turn = helper_.work(since_epoch(Clock::now()));
        if (turn.until > since_epoch(Clock::now()) && events_.is_empty()) break;
    }
    registrar_.settle();
    listener_.published();
    Clock::time_point const done = Clock::now();
    Time const left = turn.until == memory::registration::k_never ? Time::max() : turn.until - since_epoch(done);
    Clock::duration const pause = std::max<Clock::duration>(left, Clock::duration::zero());
    if (done - last_event_ < k_stays_awake) return std::min<Clock::duration>(pause, k_pause);
    sleeps_.store(true, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return events_.is_empty() ? pause : Clock::duration::zero();
}

/// Launchers bind a rank to a processor, which its threads inherit: the helper would take it from the program.
void Mapper::leave_processor_of_rank() noexcept {
    cpu_set_t all;
    std::memset(&all, 0xff, sizeof all);
    sched_setaffinity(0, sizeof all, &all);  // to those of the group of processes
    is_free_ = true;
}

void Mapper::wake() noexcept {
    sleeps_.store(false, std::memory_order_relaxed);
    thread_.wake(*this);
}

}  // namespace sluice::plugin
