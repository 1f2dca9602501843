// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/watch/neighbour.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "plugin/binding/clock.hpp"
#include "plugin/binding/tally.hpp"
#include "plugin/binding/told_end.hpp"

namespace sluice::plugin {

Neighbour::Neighbour(kernel::HelperThread& helper, Watch& watch)
    : helper_(helper), watch_(watch), head_(watch.file().next_head()) {
    if (head_ == nullptr) return;
    watch_.memory().own().add(head_, record::k_head_page, watch_.file().on_disk());
    kills_.emplace();
    helper_.add(*this);
}

Neighbour::~Neighbour() {
    helper_.remove(*this);
    process_.abandon();
}

namespace {

/// A process with much memory takes long to end, and a look finds it before its launcher is told and ends this rank,
/// too. A look takes 8 µs: 0.08 % of the time in the first seconds of a job, then 0.02 %.
std::chrono::microseconds until_next_look(std::uint64_t job_us) noexcept {
    return std::chrono::microseconds(std::clamp<std::uint64_t>(job_us / 200, 10'000, 50'000));
}

}  // namespace

/// What it has said itself needs no line.
void Neighbour::tell() noexcept {
    record::State const state = look_at(head_->state);
    if (state != record::State::running && state != record::State::finalizing) return;
    tell_end_seen(watch_.file(), *head_);
}

kernel::HelperThread::Clock::duration Neighbour::run() noexcept {
    if (head_->end_seen.seen != 0) return kernel::HelperThread::k_until_woken;
    if (!process_.is_open()) process_ = kernel::EndOfProcess(head_->process);
    if (!process_.is_open()) return kernel::HelperThread::k_until_woken;
    bool const has_ended = process_.has_ended();  // asked first: then the status is final
    std::optional<int> const status = process_.status();
    std::uint64_t const now_us = watch_.clock().us_since_start(ticks());
    if (!status && !has_ended) return until_next_look(now_us);
    put(head_->end_seen.status, status.value_or(record::k_not_told));
    put(head_->end_seen.unix_us, unix_us());
    if (auto const kills = kills_->count()) put(head_->end_seen.memory_kills, static_cast<std::int64_t>(*kills));
    put(head_->end_seen.seen, 1);
    tell();
    // This rank's last sign of life is not before the end of the other.
    put(watch_.record().head.now_us, now_us);
    return kernel::HelperThread::k_until_woken;
}

}  // namespace sluice::plugin
