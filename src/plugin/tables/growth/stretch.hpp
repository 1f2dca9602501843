// SPDX-License-Identifier: BSD-3-Clause
/// Whose memory a stretch of several calls brought, which only its ends tell of. Calls with readings of their own, and
/// the gaps behind them, say how much the MPI takes in a call and the program between two:
///
///     | call | gap | ... calls and gaps that are not read ... |
///     ^      ^     ^                                          ^ readings
///      inside outside            so many times inside and outside explain a growth, what is more is shared by time
///
/// Time alone would give the MPI what the program takes itself: a rank that waits is in MPI nearly all the time. So the
/// MPI has no more than the calls of the stretch can have taken: those of places that have been read often enough what
/// these reads say, those of others their share of the time. A rank that waits for one without a core is long in a call
/// that takes nothing, so a long call is no exception, unless the program had hardly any time.
///
/// What it does not have for this reason waits for the calls that come next, which are all read. It is the MPI's as far
/// as memory grows inside these and not between them, as in a flood of messages while the rank asks for another one. An
/// array that the program has taken stays the program's.
///
/// Written under the lock of readings (memory_watch.hpp); samples look at it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "plugin/binding/tally.hpp"
#include "plugin/tables/growth/held.hpp"

namespace sluice::plugin {

class Stretch {
  public:
    /// Bytes that came in `ticks` since the last reading, of these `in_calls` in calls, and of these `unknown` in calls
    /// of which it is not known what they can have taken. `of_open`: bytes that a call which is not over yet can have
    /// taken, if that is known.
    struct Growth {
        std::uint64_t bytes;
        std::int64_t ticks;
        std::uint64_t in_calls, unknown;
        std::uint64_t of_open = 0;
    };
    static double share_of(std::uint64_t in_calls, std::int64_t ticks) noexcept {
        // Another thread's reading may be newer than this call.
        return std::min(1.0, static_cast<double>(in_calls) / static_cast<double>(std::max<std::int64_t>(ticks, 1)));
    }

    /// A call with readings at both ends is over, in which the MPI took `bytes`. `counts`: it is not the first of its
    /// place, which takes what is there for all.
    void read_call(std::uint64_t bytes, bool counts) noexcept {
        taken_ = bytes;
        is_behind_ = counts;
        if (reads_left_ == 0) return;
        put(reads_left_, reads_left_ - 1);
        if (counts) grown_inside_ += static_cast<double>(bytes);
    }
    /// A call without them is over. `most`: bytes that it can have taken, if that is known.
    void unread_call(std::uint64_t elapsed, std::optional<std::uint64_t> most) noexcept {
        add(unread_, 1);
        if (!most)
            add(unknown_, elapsed);
        else if (*most > 0)
            add(most_, *most);
    }
    /// Ticks of calls of which it is not known.
    std::uint64_t unknown() const noexcept { return look_at(unknown_); }
    /// A reading at the begin of a call: the process has grown by `bytes` since the one before. Returns bytes that
    /// waited and turn out to be the MPI's.
    std::uint64_t begins(std::uint64_t bytes) noexcept {
        if (is_behind_ && look_at(unread_) == 0) {
            put(inside_, inside_ + taken_);
            put(outside_, outside_ + bytes);
            put(visits_, visits_ + 1);
            if (visits_ >= k_remembered)
                for (std::uint64_t* const each : {&inside_, &outside_, &visits_})
                    put(*each, *each / 2);
            if (is_proving_) grown_outside_ += static_cast<double>(bytes);
        }
        is_behind_ = false;
        return is_proving_ && reads_left_ == 0 ? proven() : 0;
    }
    /// A reading: the next stretch begins.
    void restart() noexcept {
        put(unread_, 0);
        put(unknown_, 0);
        put(most_, 0);
    }

    /// The MPI's part of a growth.
    std::uint64_t part_of_mpi(Growth const& growth) const noexcept {
        return static_cast<std::uint64_t>(std::min(likely(growth), most(growth)));
    }
    /// The stretch is over at `now`, in ticks. All calls are read once in so many `ticks` at most.
    void wait_for_proof(Growth const& growth, std::uint64_t now, std::uint64_t ticks) noexcept {
        double const beyond = likely(growth) - most(growth);
        if (beyond <= 0) return;
        waiting_ += beyond;
        waiting_calls_ += static_cast<double>(look_at(unread_));
        if (is_proving_ || waiting_ < k_growth || now < next_) return;
        next_ = now + ticks;
        is_proving_ = true;
        put(reads_left_, k_reads);
    }
    /// So much of what waits may be.
    void are_the_programs(std::uint64_t bytes) noexcept {
        waiting_ = std::max(0.0, waiting_ - static_cast<double>(bytes));
    }
    /// Whether all calls are to be read.
    bool reads_all() const noexcept { return look_at(reads_left_) > 0; }

  private:
    /// By what was measured, and by time.
    double likely(Growth const& growth) const noexcept {
        auto const bytes = static_cast<double>(growth.bytes);
        std::uint64_t const visits = look_at(visits_);
        double const inside = static_cast<double>(look_at(inside_));
        double const both = inside + static_cast<double>(look_at(outside_));
        double explained = 0;
        double of_mpi = 0;
        if (visits >= k_enough && both > 0) {
            double const times = k_times * static_cast<double>(look_at(unread_) + 1) / static_cast<double>(visits);
            explained = std::min(bytes, times * both);
            of_mpi = explained * inside / both;
        }
        return of_mpi + (bytes - explained) * share_of(growth.in_calls, growth.ticks);
    }
    /// What its calls can have taken: those of which it is known so much, and the others their share of the time that
    /// was not theirs. Calls of several threads that take longer than the stretch do not tell how long it was.
    double most(Growth const& growth) const noexcept {
        std::uint64_t const known = growth.in_calls - std::min(growth.unknown, growth.in_calls);
        bool const is_told = static_cast<std::int64_t>(growth.in_calls) <= growth.ticks;
        std::int64_t const others = growth.ticks - (is_told ? static_cast<std::int64_t>(known) : 0);
        return static_cast<double>(look_at(most_) + growth.of_open) +
               static_cast<double>(growth.bytes) * share_of(growth.unknown, others);
    }
    /// After the calls that are all read.
    std::uint64_t proven() noexcept {
        double of_mpi = 0;
        double const inside = grown_inside_ - k_chance;
        if (inside > 0)
            of_mpi =
                std::min(waiting_ * inside / (inside + grown_outside_), waiting_calls_ * k_times * inside / k_reads);
        is_proving_ = false;
        waiting_ = waiting_calls_ = grown_inside_ = grown_outside_ = 0;
        return static_cast<std::uint64_t>(of_mpi);
    }

    static constexpr std::uint64_t k_enough = 8;
    static constexpr std::uint64_t k_remembered = 256;
    static constexpr double k_times = 4;
    static constexpr std::uint64_t k_reads = 32;
    static constexpr double k_chance = 4096;  // a page comes by chance

    std::uint64_t taken_ = 0;   // in the read call that a gap follows
    bool is_behind_ = false;    // the next stretch begins behind such a call
    std::uint64_t unread_ = 0;  // calls since the last reading
    std::uint64_t unknown_ = 0, most_ = 0;
    std::uint64_t inside_ = 0, outside_ = 0, visits_ = 0;  // of read calls whose gaps were read, too
    double waiting_ = 0, waiting_calls_ = 0;
    std::uint64_t reads_left_ = 0, next_ = 0;
    bool is_proving_ = false;
    double grown_inside_ = 0, grown_outside_ = 0;  // in calls that are all read
};

}  // namespace sluice::plugin
