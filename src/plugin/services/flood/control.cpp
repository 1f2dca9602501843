// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/flood/control.hpp"

#include <sched.h>

#include <ctime>
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

// A send that has waited for so long sleeps between its looks, and has fewer bytes on their way next time.
constexpr std::chrono::microseconds k_long_wait{500};
// The receiver may need the processor of one that has waited for so long.
constexpr std::chrono::microseconds k_short_wait{20};

}  // namespace

FloodControl::FloodControl(Job& job, Terms terms, Counts counts)
    : job_(job),
      terms_(terms),
      counts_(counts),
      windows_(terms.share),
      marks_(job.memory.budget()),
      receivers_(job.watch.file()),
      eager_within_node_(eager_limit_within_a_node()) {}

/// In MPI_COMM_WORLD; −1: it is not known, or not one that can be flooded.
int FloodControl::receiver_of(Call& call, Message const& message) const noexcept {
    int const rank = call.watch().communicators().world_rank(message.comm, message.destination);
    return rank == job_.rank ? -1 : rank;
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

std::optional<Hold> FloodControl::send(Call& call, Message const& message) noexcept {
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
    window.since_mark = 0;
    auto const now = Clock::now();
    auto const patience = HoldRule::patience_after(window.silent, k_first_patience, terms_.hold);
    return Hold{rank, std::exchange(window.mark, std::move(mark)),
                HoldRule(patience, terms_.hold, now, receivers_.completed(rank)), now};
}

bool FloodControl::is_over(Hold& hold) noexcept {
    CallersLock const lock(changing_);
    bool const first = !std::exchange(hold.was_looked_at, true);
    if (!hold.mark || Marks::look(*hold.mark)) {
        SendWindow<Mark>& window = windows_.of(hold.rank);
        window.silent = 0;
        if (first)
            windows_.widen(window);
        else
            ends(hold, HoldRule::Verdict::keep, Clock::now());
        return true;
    }
    if (first) add(counts_.held, 1);
    auto const now = Clock::now();
    HoldRule::Verdict const verdict = hold.rule.ask(now, receivers_.completed(hold.rank));
    if (verdict == HoldRule::Verdict::keep) return false;
    ends(hold, verdict, now);
    return true;
}

/// `verdict`: keep if its mark was matched.
void FloodControl::ends(Hold const& hold, HoldRule::Verdict verdict, HoldRule::Time now) noexcept {
    auto const waited = std::chrono::duration_cast<std::chrono::microseconds>(now - hold.begin);
    add(counts_.held_us, static_cast<std::uint64_t>(waited.count()));
    SendWindow<Mark>& window = windows_.of(hold.rank);
    if (waited > k_long_wait) windows_.narrow(window);
    if (verdict == HoldRule::Verdict::keep) return;
    ++window.silent;
    add(verdict == HoldRule::Verdict::silent ? counts_.silent : counts_.too_long, 1);
}

void FloodControl::pause(HoldRule::Time begin) noexcept {
    auto const waited = Clock::now() - begin;
    if (waited < k_short_wait) return;
    if (waited < k_long_wait) return static_cast<void>(sched_yield());
    timespec const moment{0, 20'000};
    nanosleep(&moment, nullptr);
}

void FloodControl::wait(Hold& hold) noexcept {
    while (!is_over(hold))
        pause(hold.begin);
}

void FloodControl::received() noexcept {
    job_.watch.received();
}

void FloodControl::finish(MPI_Comm all, RootedCalls& rooted) noexcept {
    groups::NonblockingBarrier barrier(all, groups::tags::k_flood_barrier.first);
    for (auto const begin = Clock::now(); !barrier.is_passed(); pause(begin)) {
        marks_.sweep();
        rooted.sweep();
    }
    // All members have begun each barrier that this one has, unless the program was wrong.
    for (auto const begin = Clock::now(); !rooted.sweep() && Clock::now() - begin < rooted.hold(); pause(begin)) {
    }
    marks_.leave_to_mpi();
}

}  // namespace sluice::plugin
