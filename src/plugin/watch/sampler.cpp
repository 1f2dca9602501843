// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/watch/sampler.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <string_view>

#include "kernel/files/read_text.hpp"
#include "kernel/proc_text.hpp"
#include "kernel/process/own_limit.hpp"
#include "plugin/binding/tally.hpp"
#include "plugin/watch/peak.hpp"

namespace sluice::plugin {

namespace {

constexpr std::uint64_t k_first_interval_us = 10000;
// Between samples: closer together at the start, so that a short run has a curve too.
constexpr std::uint64_t k_least_interval_us = 10000;
constexpr std::uint64_t k_most_interval_us = 100000;
constexpr std::uint64_t k_proportional_interval_us = 1000000;
constexpr std::uint64_t k_first_proportional_us = 20000;
constexpr std::uint32_t k_segments_grow_kib = 512;
constexpr std::uint64_t k_segments_near_kib = 128;
// Between looks at the pages of Sluice's own mappings, which take 17 µs: at most 0.04 % of the time.
constexpr std::uint64_t k_own_interval_us = 50000;
// Between looks at what the kernel counts as pinned: reading the status of a process takes 20 µs.
constexpr std::uint64_t k_pinned_interval_us = 50000;

void keep_own_limit(record::RankHead& head) noexcept {
    kernel::OwnLimit const own = kernel::tightest_own_limit();
    if (own.limit == 0 || own.used < head.own_used) return;
    put(head.own_limit, own.limit);
    put(head.own_used, own.used);
    put(head.own_limit_is_address_space, own.is_address_space ? 1U : 0U);
}

bool is_near(std::uint64_t before_kib, std::uint64_t after_kib) noexcept {
    std::uint64_t const apart = before_kib > after_kib ? before_kib - after_kib : after_kib - before_kib;
    return apart <= std::max(before_kib / 64, k_segments_near_kib);
}

/// On a processor: on a busy machine much more time passes.
std::uint64_t time_of_thread_us() noexcept {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(now.tv_nsec) / 1000;
}

}  // namespace

Sampler::Sampler(kernel::HelperThread& helper, Watch& watch, budget::ProcessBudget& memory)
    : helper_(helper), watch_(watch), memory_(memory) {
    watch_.record().head.history_interval_us = k_first_interval_us;
    proportional_interval_us_ = k_proportional_interval_us;
    helper_.add(*this);
}

Sampler::~Sampler() {
    helper_.remove(*this);
    watch_.memory().own().look();
    take();
    read_proportional();  // of the shared memory that the last sample has: the program may have freed some since the
                          // one before
}

kernel::HelperThread::Clock::duration Sampler::run() noexcept {
    memory_.look_if_due();  // what leases gave back is free for other processes of the node
    take();
    return std::chrono::microseconds(interval_us_);
}

void Sampler::take() {
    record::RankHead& head = watch_.record().head;
    look_at_own_pages();
    KernelSays kernel;
    record::Sample sample = watch_.sample(kernel);
    read_pinned(sample.time_us);
    sample.pinned = pinned_;
    put(head.now_us, sample.time_us);
    keep_peak(watch_, sample, kernel);
    head.huge_kib = std::max(head.huge_kib, static_cast<std::uint32_t>(kernel.huge / 1024));
    head.segments_now = static_cast<std::uint32_t>(kernel.segments / 1024);
    head.sluice_code = static_cast<std::uint32_t>(watch_.memory().own().code() / 1024);
    keep_own_limit(head);
    keep_in_history(sample);
    interval_us_ = std::clamp(sample.time_us / 200, k_least_interval_us, k_most_interval_us);
    watch_.record().recent[head.recent % record::k_recent] = sample;
    ++head.recent;
    share_out_segments(sample.time_us);
}

/// Reading smaps_rollup takes the longer the larger the process is: at most a two-thousandth of the time, and a
/// two-hundredth while shared memory grows. After that it is read soon again, since others may map the same pages.
void Sampler::share_out_segments(std::uint64_t now_us) {
    record::RankHead const& head = watch_.record().head;
    bool const grows = head.segments_now > head.segments + head.segments / 8 + k_segments_grow_kib;
    if (grows) proportional_interval_us_ = k_first_proportional_us;
    if (now_us < (grows ? soonest_proportional_us_ : next_proportional_us_)) return;
    std::uint64_t const begin_us = time_of_thread_us();
    read_proportional();
    std::uint64_t const took = time_of_thread_us() - begin_us;
    bool const rests = proportional_interval_us_ == k_proportional_interval_us;
    soonest_proportional_us_ = now_us + 200 * took;
    next_proportional_us_ = now_us + std::max(proportional_interval_us_, (rests ? 2000 : 200) * took);
    proportional_interval_us_ = std::min(2 * proportional_interval_us_, k_proportional_interval_us);
}

/// Code and pages of the record become resident when they are used first.
void Sampler::look_at_own_pages() {
    std::uint64_t const now_us = watch_.clock().us_since_start(ticks());
    if (now_us < next_own_us_) return;
    watch_.memory().own().look();
    watch_.memory().look_at_threads();
    next_own_us_ = now_us + k_own_interval_us;
}

/// The whole run in a table of fixed size: samples of an interval that is doubled whenever the table is full, of two
/// that become one the larger stays.
void Sampler::keep_in_history(record::Sample const& sample) {
    record::RankHead& head = watch_.record().head;
    auto& history = watch_.record().history;
    // The first two are those of MPI_Init: what comes later is not put on its account, nor its on a later call's.
    if (head.history > 2 && sample.time_us < history[head.history - 1].time_us + head.history_interval_us) {
        record::Sample& last = history[head.history - 1];
        record::Sample const before = last;
        if (sample.resident > last.resident) {
            last = sample;
            last.time_us = before.time_us;
        }
        keep_most_pinned(last, before);
        keep_most_pinned(last, sample);
        return;
    }
    if (head.history == record::k_history) {
        for (std::size_t i = 0; i < record::k_history / 2; ++i) {
            record::Sample const first = history[2 * i];
            record::Sample const second = history[2 * i + 1];
            history[i] = second.resident > first.resident ? second : first;
            history[i].time_us = first.time_us;
            keep_most_pinned(history[i], first);
            keep_most_pinned(history[i], second);
        }
        head.history = record::k_history / 2;
        head.history_interval_us *= 2;
    }
    history[head.history] = sample;
    ++head.history;
}

void Sampler::read_pinned(std::uint64_t now_us) {
    if (now_us < next_pinned_us_) return;
    next_pinned_us_ = now_us + k_pinned_interval_us;
    std::array<char, 4096> room;
    std::string_view const status = kernel::read_text("/proc/self/status", room);
    pinned_ = static_cast<std::uint32_t>(kernel::bytes_after(status, "VmPin:").value_or(0) / 1024);
}

void Sampler::read_proportional() {
    std::array<char, 4096> room;
    std::string_view const rollup = kernel::read_text("/proc/self/smaps_rollup", room);
    auto const bytes = [rollup](std::string_view key) { return kernel::bytes_after(rollup, key).value_or(0); };
    record::RankHead& head = watch_.record().head;
    head.proportional_bytes = bytes("Pss:");
    head.private_bytes = bytes("Private_Clean:") + bytes("Private_Dirty:");
    head.shared_bytes = bytes("Shared_Clean:") + bytes("Shared_Dirty:");
    auto const part = static_cast<std::uint32_t>(bytes("Pss_Shmem:") / 1024);
    if (head.segments_now < head.segments - head.segments / 8) return;
    // The program may have touched or freed some between the sample and the rollup: a part of another whole.
    KernelSays after;
    watch_.memory().read_with_peak(after);
    if (!is_near(head.segments_now, after.segments / 1024)) return;
    head.segments = head.segments_now;
    head.segments_part = part;
}

}  // namespace sluice::plugin
