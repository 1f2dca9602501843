// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/overlap/deferred_receives.hpp"

#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <utility>

#include "kernel/thread/make_thread.hpp"
#include "kernel/thread/prompt_thread.hpp"
#include "plugin/services/overlap/receive_ticket.hpp"

namespace sluice::plugin {

namespace {

using Stage = DeferredReceive::Stage;
using Us = std::chrono::microseconds;
using Ns = std::chrono::nanoseconds;

// MPI's tests run on this thread.
constexpr std::size_t k_stack_bytes = std::size_t{1} << 20;
// Between two tests while no thread waits: each costs the program's core some microseconds.
constexpr Us k_first_pause{100};
constexpr Us k_longest_pause{400};
// Where it is known how long a message takes, so much of it comes in a pause: this part of it, and no more than the
// memory of a socket holds.
constexpr std::uint64_t k_pauses_in_a_message = 12;
constexpr std::uint64_t k_most_in_a_pause = 192 << 10;
constexpr Us k_longest_known_pause{2000};

}  // namespace

DeferredReceives::DeferredReceives(kernel::GuardedPages& guards, Listener& listener)
    : guards_(guards), listener_(listener), thread_(kernel::make_thread(k_stack_bytes, begin, this)) {
    has_thread_ = true;
}

DeferredReceives::~DeferredReceives() {
    if (!has_thread_) return;
    ends_.store(true, std::memory_order_release);
    moving_.fetch_add(1, std::memory_order_release);
    moving_.notify_one();
    go_on();
    kernel::join_thread(thread_);
}

void DeferredReceives::in_child() noexcept {
    has_thread_ = false;
}

DeferredReceive* DeferredReceives::free_place() noexcept {
    collect();
    auto const found =
        std::find_if(receives_.begin(), receives_.end(), [](auto const& receive) { return receive.is(Stage::unused); });
    return found != receives_.end() ? &*found : nullptr;
}

DeferredReceive* DeferredReceives::place() {
    if (DeferredReceive* const found = free_place(); found != nullptr) return found;
    DeferredReceive* oldest = nullptr;
    for (DeferredReceive& receive : receives_)
        if (has_returned(receive) && (oldest == nullptr || receive.since < oldest->since)) oldest = &receive;
    if (oldest == nullptr) return nullptr;
    finish(*oldest);
    return free_place();
}

void DeferredReceives::is_under_way(DeferredReceive& receive, Stage stage) noexcept {
    receive.needed.store(0, std::memory_order_relaxed);
    receive.why_in_place = nullptr;
    receive.counted = false;
    receive.stage.store(stage, std::memory_order_release);
    used_.fetch_add(1, std::memory_order_release);
    if (moving_.fetch_add(1, std::memory_order_release) == 0) moving_.notify_one();
}

void DeferredReceives::add(DeferredReceive& receive) noexcept {
    receive.since = Clock::now();
    receive.order = 0;
    receive.returned.store(true, std::memory_order_relaxed);
    is_under_way(receive, Stage::moving);
}

void DeferredReceives::collect() noexcept {
    for (DeferredReceive& receive : receives_) {
        if (!receive.is(Stage::landed)) continue;
        if (!std::exchange(receive.counted, true)) listener_.landed(receive);
        if (receive.ticket != MPI_REQUEST_NULL) continue;
        receive.stage.store(Stage::unused, std::memory_order_relaxed);
        used_.fetch_sub(1, std::memory_order_release);
    }
}

void DeferredReceives::finish(std::uintptr_t from, std::uintptr_t to) {
    // MPI frees or maps memory of its own, or is in a call that knows nothing of the turn.
    if (turn_.is_mine() || aside_.load(std::memory_order_acquire)) return;
    for (DeferredReceive& receive : receives_)
        if (receive.is(Stage::moving) && receive.overlaps(from, to)) finish(receive);
}

void DeferredReceives::finish_returned() {
    if (turn_.is_mine()) return;
    for (DeferredReceive& receive : receives_)
        if (has_returned(receive)) finish(receive);
}

bool DeferredReceives::overlap(std::uintptr_t from, std::uintptr_t to) const noexcept {
    return std::any_of(receives_.begin(), receives_.end(),
                       [&](auto const& receive) { return receive.is(Stage::moving) && receive.overlaps(from, to); });
}

void DeferredReceives::finish(DeferredReceive& receive) {
    receive.is_needed(Clock::now());
    while (receive.is(Stage::moving)) {
        {
            InTurn const turn(turn_);
            advance();
        }
        sched_yield();
    }
}

void DeferredReceives::step_aside() {
    finish_returned();
    if (aside_.load(std::memory_order_relaxed) || moving_.load(std::memory_order_acquire) == 0) return;
    InTurn const turn(turn_);
    post_held();
    advance();
    aside_.store(true, std::memory_order_release);
}

void DeferredReceives::go_on() noexcept {
    if (!aside_.load(std::memory_order_relaxed)) return;
    aside_.store(false, std::memory_order_release);
    aside_.notify_one();
}

void DeferredReceives::advance() {
    for (DeferredReceive& receive : receives_) {
        Stage const stage = receive.stage.load(std::memory_order_relaxed);
        if (stage == Stage::moving || stage == Stage::in_place)
            test(receive);
        else if (stage == Stage::held && !comes_after_another(receive))
            match(receive);
    }
}

/// A test of a blocking receive that fails does not return: errors are fatal on its communicator.
void DeferredReceives::test(DeferredReceive& receive) {
    int done = 0;
    MPI_Status status{};
    int const code = MPI_Test(&receive.request, &done, &status);
    if (done == 0 && code == MPI_SUCCESS) return;
    Clock::time_point const came = Clock::now();
    receive.landed = came;
    if (receive.is(Stage::moving)) {
        guards_.give_back(receive.pages);
        receive.landed = Clock::now();
        receive.moving_pages += receive.landed - came;
        receive.waited = receive.order == 0 ? Clock::duration{} : waiting_.until(came) - receive.waited;
        ns_per_byte_.store(static_cast<double>(Ns(came - receive.since).count()) /
                               static_cast<double>(std::max<std::uint64_t>(receive.bytes, 1)),
                           std::memory_order_relaxed);
    }
    if (receive.ticket != MPI_REQUEST_NULL && !receive.returned.load(std::memory_order_relaxed)) {
        receive.status = status;
        receive.code = code;
        complete_ticket(receive);
    }
    receive.stage.store(Stage::landed, std::memory_order_release);
    moving_.fetch_sub(1, std::memory_order_release);
}

void* DeferredReceives::begin(void* self) noexcept {
    static_cast<DeferredReceives*>(self)->run();
    return nullptr;
}

void DeferredReceives::run() noexcept {
    pthread_setname_np(pthread_self(), "sluice-overlap");
    kernel::be_prompt();
    for (;;) {
        moving_.wait(0, std::memory_order_acquire);
        if (ends_.load(std::memory_order_acquire)) return;
        pause_ = k_first_pause;
        while (moving_.load(std::memory_order_acquire) != 0 && !ends_.load(std::memory_order_acquire)) {
            aside_.wait(true, std::memory_order_acquire);
            work();
        }
    }
}

/// One round while something is under way.
void DeferredReceives::work() noexcept {
    bool waited_for = hear_faults();
    if (turn_.try_take()) {
        Turn::t_has_turn = true;
        if (!aside_.load(std::memory_order_relaxed)) advance();
        Turn::t_has_turn = false;
        turn_.give_back();
    }
    waited_for = hear_faults() || waited_for;
    if (moving_.load(std::memory_order_acquire) == 0) return;
    if (waited_for || is_someone_waiting()) {
        sched_yield();
        return;
    }
    timespec rest{};
    rest.tv_nsec = static_cast<long>(Ns(pause()).count());
    pollfd faults{guards_.descriptor(), POLLIN, 0};
    ppoll(&faults, 1, &rest, nullptr);
}

/// A page that is waited for belongs to a receive that is moving, or its pages came back meanwhile.
bool DeferredReceives::hear_faults() noexcept {
    bool any = false;
    while (auto const fault = guards_.next_fault()) {
        auto const at = reinterpret_cast<std::uintptr_t>(fault->address);
        for (DeferredReceive& receive : receives_) {
            if (!receive.is(Stage::moving) || !receive.overlaps(at, at + 1)) continue;
            receive.is_needed(Clock::now());
            any = true;
        }
    }
    return any;
}

bool DeferredReceives::is_someone_waiting() const noexcept {
    return std::any_of(receives_.begin(), receives_.end(), [](DeferredReceive const& receive) {
        return receive.is(Stage::moving) && receive.needed.load(std::memory_order_relaxed) != 0;
    });
}

/// The pause before the next test: it doubles, up to a small part of the time that the messages under way take, as far
/// as that is known.
DeferredReceives::Clock::duration DeferredReceives::pause() noexcept {
    Clock::duration longest = k_longest_pause;
    if (double const ns = ns_per_byte_.load(std::memory_order_relaxed); ns > 0) {
        std::uint64_t in_a_pause = k_most_in_a_pause;
        for (DeferredReceive const& receive : receives_)
            if (!receive.is(Stage::unused) && !receive.is(Stage::landed))
                in_a_pause = std::min(in_a_pause, receive.bytes / k_pauses_in_a_message);
        longest = std::clamp<Clock::duration>(Ns(static_cast<std::int64_t>(ns * static_cast<double>(in_a_pause))),
                                              k_first_pause, k_longest_known_pause);
    }
    return std::exchange(pause_, std::min(pause_ * 2, longest));
}

}  // namespace sluice::plugin
