// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/flood/control.hpp"

#include <sched.h>

#include <algorithm>
#include <ctime>
#include <exception>
#include <limits>
#include <utility>

#include "groups/nonblocking_barrier.hpp"
#include "groups/tags.hpp"
#include "kernel/device/device_memory.hpp"
#include "plugin/binding/tally.hpp"
#include "plugin/services/flood/eager_limit.hpp"
#include "plugin/services/flood/rooted.hpp"
#include "plugin/services/job.hpp"
#include "plugin/tables/message_bytes.hpp"
#include "plugin/watch/call.hpp"

namespace sluice::plugin {

namespace {

// A send that has waited for so long sleeps between its looks, the longer the longer it has waited.
constexpr std::chrono::microseconds k_long_wait{500};
constexpr std::chrono::nanoseconds k_least_sleep{20'000};
constexpr std::chrono::nanoseconds k_most_sleep{200'000};
// A receiver that does not tell how far it is has many senders if it needs so long for two spacings.
constexpr std::chrono::milliseconds k_wait_of_many{2};
// The receiver may need the processor of one that has waited for so long.
constexpr std::chrono::microseconds k_short_wait{20};
// A receiver of another node is asked how far it is from then on: most holds are over before.
constexpr std::chrono::milliseconds k_before_question{2};
// How often a rank looks whether it is asked.
constexpr std::uint64_t k_reply_pause_us = 500;

}  // namespace

FloodControl::FloodControl(Job& job, Terms terms, Counts counts)
    : job_(job),
      terms_(terms),
      counts_(counts),
      windows_(terms.share),
      marks_(job.memory.budget()),
      receivers_(job.watch.file()),
      questions_(job.all.get()),
      reply_pause_(job.watch.clock().ticks_in_us(k_reply_pause_us)),
      eager_within_node_(eager_limit_within_a_node()) {}

int FloodControl::receiver_of(Call& call, Message const& message) const noexcept {
    int const rank = call.watch().communicators().world_rank(message.comm, message.destination);
    return rank == job_.rank ? -1 : rank;
}

/// How many receives a receiver has completed; across nodes when it was last asked.
std::optional<std::uint64_t> FloodControl::completed(int rank) {
    auto const here = receivers_.completed(rank);
    return here ? here : questions_.answer_of(rank);
}

bool FloodControl::is_eager(SendWindow<Mark>& window, std::uint64_t bytes) noexcept {
    using Node = SendWindow<Mark>::Node;
    if (bytes <= eager_within_node_) [[likely]]
        return true;
    if (window.node == Node::unknown) window.node = receivers_.completed(window.rank) ? Node::same : Node::other;
    return window.node == Node::other;
}

std::optional<Message> FloodControl::due_message(Call& call, Message message, MPI_Count count) noexcept {
    message.bytes = static_cast<std::uint64_t>(count) * g_plugin.dense_types.size_of(message.type);
    if (message.bytes == 0) [[unlikely]] {
        MessageBytes sizes(call.watch().communicators(), call.watch().datatypes());
        message.bytes = sizes.bytes(count, message.type);
        message.dense = g_plugin.dense_types.size_of(message.type) > 0;
        if (sizes.left_out()) return std::nullopt;
    }
    if (message.bytes > k_eager_limit || count > std::numeric_limits<int>::max()) return std::nullopt;
    int const rank = receiver_of(call, message);
    if (rank < 0) return std::nullopt;
    {
        CallersLock const lock(changing_);
        SendWindow<Mark>& window = windows_.of(rank);
        if (!is_eager(window, message.bytes) || !window.sends(message.bytes)) [[likely]]
            return std::nullopt;
    }
    // MPI is to refuse a wrong tag by the program's own call. Memory of a device cannot be copied by the processor.
    if (message.tag < 0 || message.tag > terms_.largest_tag) return std::nullopt;
    if (kernel::device_library() != nullptr) return std::nullopt;
    return message;
}

std::optional<Hold> FloodControl::send(Call& call, Message const& message) {
    int const rank = receiver_of(call, message);
    CallersLock const lock(changing_);
    marks_.sweep();
    auto mark = marks_.send(message);
    if (!mark) {
        add(counts_.without_memory, 1);
        return std::nullopt;
    }
    add(counts_.marks, 1);
    SendWindow<Mark>& window = windows_.of(rank);
    mark->completed = receivers_.completed(rank);
    mark->bytes_each = window.since_mark / std::max<std::uint64_t>(window.messages, 1);
    window.since_mark = 0;
    window.messages = 0;
    auto const now = Clock::now();
    auto const patience = HoldRule::patience_after(window.silences(), k_first_patience, terms_.hold);
    return Hold{rank, std::exchange(window.mark, std::move(mark)),
                HoldRule(patience, terms_.hold, now, completed(rank)), now};
}

bool FloodControl::is_over(Hold& hold) {
    CallersLock const lock(changing_);
    bool const is_matched = !hold.mark || Marks::look(*hold.mark);
    bool const first = !std::exchange(hold.was_looked_at, true);
    if (is_matched) {
        SendWindow<Mark>& window = windows_.of(hold.rank);
        window.was_matched();
        if (first)
            windows_.widen(window);
        else
            ends(hold, HoldRule::Verdict::keep, Clock::now());
        return true;
    }
    auto const now = Clock::now();
    if (first) {
        add(counts_.held, 1);
        held_time_.begin(now);
    }
    if (now - hold.begin >= k_before_question && !receivers_.completed(hold.rank)) questions_.ask(hold.rank, now);
    HoldRule::Verdict const verdict = hold.rule.ask(now, completed(hold.rank));
    if (verdict == HoldRule::Verdict::keep) return false;
    ends(hold, verdict, now);
    return true;
}

void FloodControl::release(Hold const& hold) noexcept {
    CallersLock const lock(changing_);
    if (hold.was_looked_at) count_end(Clock::now());
}

FloodControl::Left::~Left() {
    if (std::uncaught_exceptions() > before_) control_.release(hold_);
}

void FloodControl::count_end(HoldRule::Time now) noexcept {
    auto const over = std::chrono::duration_cast<std::chrono::microseconds>(held_time_.end(now));
    add(counts_.held_us, static_cast<std::uint64_t>(over.count()));
}

/// `verdict`: keep if its mark was matched.
void FloodControl::ends(Hold const& hold, HoldRule::Verdict verdict, HoldRule::Time now) noexcept {
    count_end(now);
    SendWindow<Mark>& window = windows_.of(hold.rank);
    if (verdict == HoldRule::Verdict::keep) return adapt(window, hold, now - hold.begin);
    // A receiver that completes nothing may be one that waits for this rank, or has no processor: it gets little more,
    // but does not get less each time.
    if (verdict == HoldRule::Verdict::too_long)
        windows_.let_go(window);
    else
        windows_.begin_again(window);
    window.was_silent();
    add(verdict == HoldRule::Verdict::silent ? counts_.silent : counts_.too_long, 1);
}

void FloodControl::adapt(SendWindow<Mark>& window, Hold const& hold, HoldRule::Duration waited) noexcept {
    if (auto const completed = receivers_.completed(hold.rank); completed && hold.mark->completed)
        windows_.adapt(window, *completed - *hold.mark->completed, hold.mark->bytes_each);
    else if (waited > k_wait_of_many)
        windows_.narrow(window);
    else
        windows_.widen(window);
}

void FloodControl::pause(HoldRule::Time begin) noexcept {
    auto const waited = Clock::now() - begin;
    if (waited < k_short_wait) return;
    if (waited < k_long_wait) return static_cast<void>(sched_yield());
    auto const sleep = std::clamp<std::chrono::nanoseconds>(waited / 16, k_least_sleep, k_most_sleep);
    timespec const moment{0, static_cast<long>(sleep.count())};
    nanosleep(&moment, nullptr);
}

void FloodControl::wait(Hold& hold) {
    Left const left(*this, hold);
    while (!is_over(hold))
        pause(hold.begin);
}

std::optional<Hold> FloodControl::begin_burst(int rank) {
    CallersLock const lock(changing_);
    SendWindow<Mark>& window = windows_.of(rank);
    if (!window.holds_burst()) return std::nullopt;
    windows_.narrow_for_burst(window);
    auto const now = Clock::now();
    add(counts_.held, 1);
    Hold burst{rank, nullptr, HoldRule(std::min(k_first_patience, terms_.hold), terms_.hold, now, completed(rank)), now,
               true};
    held_time_.begin(now);
    return burst;
}

bool FloodControl::is_let_go(Hold& burst) {
    CallersLock const lock(changing_);
    auto const now = Clock::now();
    if (now - burst.begin >= k_before_question && !receivers_.completed(burst.rank)) questions_.ask(burst.rank, now);
    burst.verdict = burst.rule.ask(now, completed(burst.rank));
    return burst.verdict != HoldRule::Verdict::keep;
}

void FloodControl::end_burst(Hold const& burst) noexcept {
    CallersLock const lock(changing_);
    count_end(Clock::now());
    SendWindow<Mark>& window = windows_.of(burst.rank);
    if (burst.verdict == HoldRule::Verdict::keep) return window.was_matched_in_burst();
    if (burst.verdict == HoldRule::Verdict::silent) window.was_silent_in_burst();
    add(burst.verdict == HoldRule::Verdict::silent ? counts_.silent : counts_.too_long, 1);
}

void FloodControl::received() noexcept {
    job_.watch.received();
}

void FloodControl::reply() {
    std::uint64_t const now = ticks();
    if (now - replied_at_ < reply_pause_) return;
    replied_at_ = now;
    if (questions_.reply(look_at(job_.watch.record().head.receives))) add(counts_.answers, 1);
}

/// The answers that this rank waits for come at the latest when those that it asked are here, too.
void FloodControl::finish(MPI_Comm all, RootedCalls& rooted) {
    for (auto const begin = Clock::now(); questions_.is_open(); pause(begin))
        reply();
    // Open MPI 4.1.4 completes no MPI_Ibarrier any more once an operation of the program has thrown in a nonblocking
    // reduction.
    groups::BarrierOfMessages barrier(all, groups::tags::k_flood_barrier.first);
    for (auto const begin = Clock::now(); !barrier.is_passed(); pause(begin)) {
        marks_.sweep();
        rooted.sweep();
        reply();
    }
    // All members have begun each barrier that this one has, unless the program was wrong.
    for (auto const begin = Clock::now(); !rooted.sweep() && Clock::now() - begin < rooted.hold(); pause(begin)) {
    }
    marks_.leave_to_mpi();
}

}  // namespace sluice::plugin
