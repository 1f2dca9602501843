// SPDX-License-Identifier: BSD-3-Clause
#include "sluice/budget.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <utility>

#include "base/units.hpp"
#include "budget/allowance.hpp"
#include "sluice/error.hpp"

namespace sluice {

namespace detail {

// The bytes, and the queue of requests that wait for some:
//
//     0            held                       limit
//     |############|..........................|        waiting: [64 KiB] [2 MiB] [1 KiB] …
//                                                               front: is served first, no request overtakes it
//
// A thread that gives bytes back serves the front of the queue as long as it fits. Only one thread serves, and it does
// not hold the lock during a callback: callbacks run in order, may use the budget, and do not recurse if they give
// their bytes back.
//
// With an allowance there is a third mark, the bytes that may be held without asking it again:
//
//     0            held        granted        limit        told: what other processes were told, max(held, granted)
//     |############|............:.............|
//
// It may be below held after other processes needed the memory more: then each new lease asks.
struct BudgetState {
    BudgetState(Bytes bound, std::shared_ptr<budget::Allowance> from)
        : limit(bound.count), ceiling(bound), allowance(std::move(from)) {}

    struct Waiter {
        Bytes amount;
        Purpose purpose;
        std::function<void(Lease)> go;
    };

    Bytes bound() const { return Bytes{limit.load(std::memory_order_relaxed)}; }
    bool can_ever_fit(Bytes amount) const { return amount <= std::max({bound(), ceiling, Budget::guaranteed_minimum}); }
    bool is_first_minimum(Bytes amount) const { return held.count == 0 && amount <= Budget::guaranteed_minimum; }
    bool fits(Bytes amount) {
        if (amount.count == 0 || is_first_minimum(amount)) return true;
        if (held > bound() || amount > bound() - held) return false;
        if (!allowance || held + amount <= granted) return true;
        Bytes const more = allowance->extend(held + amount);
        if (more < held + amount) return false;
        granted = told = more;
        return true;
    }
    void take(Bytes amount, Purpose purpose) {
        held += amount;
        of_purpose(purpose) += amount;
        peak = std::max(peak, held);
        recent_peak = std::max(recent_peak, held);
        if (!allowance || held <= told) return;
        told = held;
        allowance->exceed(told);
    }
    void give(Bytes amount, Purpose purpose) {
        held -= amount;
        of_purpose(purpose) -= amount;
    }
    void keep(Bytes most) {
        if (!allowance) return;
        granted = std::min(granted, most);
        Bytes const needed = std::max(held, granted);
        if (needed >= told) return;
        told = needed;
        allowance->shrink(told);
    }
    Bytes& of_purpose(Purpose purpose) { return by_purpose[static_cast<std::size_t>(purpose)]; }

    std::mutex mutex;
    std::atomic<std::uint64_t> limit;  // written under the mutex
    std::atomic<std::uint64_t> resident{0};
    Bytes ceiling;
    Bytes held;
    Bytes granted;
    Bytes told;
    Bytes peak;
    Bytes recent_peak;
    std::array<Bytes, static_cast<std::size_t>(Purpose::registered) + 1> by_purpose{};
    std::deque<Waiter> waiting;
    bool serving = false;
    std::shared_ptr<budget::Allowance> const allowance;  // may be null
};

}  // namespace detail

namespace {

// Serves the queue with leases made by `lease_of(waiter)`. The caller holds `lock` on entry and on return.
template <typename LeaseOf>
void serve(detail::BudgetState& state, std::unique_lock<std::mutex>& lock, LeaseOf lease_of) noexcept {
    if (state.serving) return;  // the serving thread looks at the queue again after each callback
    state.serving = true;
    while (!state.waiting.empty() && state.fits(state.waiting.front().amount)) {
        detail::BudgetState::Waiter waiter = std::move(state.waiting.front());
        state.waiting.pop_front();
        state.take(waiter.amount, waiter.purpose);
        lock.unlock();
        waiter.go(lease_of(waiter));
        waiter.go = nullptr;  // destroying the callback may give bytes back, so it happens without the lock
        lock.lock();
    }
    state.serving = false;
}

}  // namespace

Lease::Lease(std::shared_ptr<detail::BudgetState> state, Bytes amount, Purpose purpose)
    : state_(std::move(state)), amount_(amount), purpose_(purpose) {}

Lease::Lease(Lease&& other) noexcept
    : state_(std::move(other.state_)), amount_(std::exchange(other.amount_, Bytes{})), purpose_(other.purpose_) {}

Lease& Lease::operator=(Lease&& other) noexcept {
    if (this != &other) {
        release();
        state_ = std::move(other.state_);
        amount_ = std::exchange(other.amount_, Bytes{});
        purpose_ = other.purpose_;
    }
    return *this;
}

Lease::~Lease() {
    release();
}

void Lease::release() noexcept {
    std::shared_ptr<detail::BudgetState> const state = std::exchange(state_, nullptr);
    if (state == nullptr) return;
    std::unique_lock lock(state->mutex);
    state->give(std::exchange(amount_, Bytes{}), purpose_);
    serve(*state, lock, [&](auto const& waiter) { return Lease(state, waiter.amount, waiter.purpose); });
}

Lease Lease::split(Bytes part) noexcept {
    Bytes const taken = std::min(part, amount_);
    amount_ -= taken;
    return Lease(state_, taken, purpose_);
}

Budget::Budget(Bytes limit) : Budget(limit, nullptr) {}

Budget::Budget(Bytes limit, std::shared_ptr<budget::Allowance> allowance)
    : state_(std::make_shared<detail::BudgetState>(limit, std::move(allowance))) {}

std::optional<Lease> Budget::try_lease(Bytes amount, Purpose purpose) {
    std::unique_lock const lock(state_->mutex);
    // Bytes that become free belong to the requests that wait; otherwise a large request could wait for ever.
    if (amount.count != 0 && !state_->waiting.empty()) return std::nullopt;
    if (!state_->fits(amount)) return std::nullopt;
    state_->take(amount, purpose);
    return Lease(state_, amount, purpose);
}

void Budget::when_free(Bytes amount, Purpose purpose, std::function<void(Lease)> go) {
    // The copy keeps the state alive, because the callback may destroy the Budget.
    std::shared_ptr<detail::BudgetState> const state = state_;
    std::unique_lock lock(state->mutex);
    if (!state->can_ever_fit(amount))
        throw Error(ErrorCode::out_of_memory,
                    "a lease of " + base::format_bytes(amount) + " can never fit: the budget of this process is " +
                        base::format_bytes(std::max(state->bound(), state->ceiling)) + " (setting memory)");
    state->waiting.push_back({amount, purpose, std::move(go)});
    serve(*state, lock, [&](auto const& waiter) { return Lease(state, waiter.amount, waiter.purpose); });
}

Lease Budget::lease_beyond(Bytes amount, Purpose purpose) {
    std::lock_guard const lock(state_->mutex);
    state_->take(amount, purpose);
    return Lease(state_, amount, purpose);
}

void Budget::set_limit(Bytes limit) {
    adapt(limit, limit, Bytes{~std::uint64_t{0}});
}

void Budget::adapt(Bytes limit, Bytes ceiling, Bytes keep) {
    std::shared_ptr<detail::BudgetState> const state = state_;
    std::unique_lock lock(state->mutex);
    state->limit.store(limit.count, std::memory_order_relaxed);
    state->ceiling = ceiling;
    state->keep(keep);
    serve(*state, lock, [&](auto const& waiter) { return Lease(state, waiter.amount, waiter.purpose); });
}

Bytes Budget::limit() const noexcept {
    return state_->bound();
}

Bytes Budget::take_recent_peak() {
    std::lock_guard const lock(state_->mutex);
    return std::exchange(state_->recent_peak, state_->held);
}

Bytes Budget::spare() const {
    std::lock_guard const lock(state_->mutex);
    Bytes const most = state_->allowance ? std::min(state_->granted, state_->bound()) : state_->bound();
    return most > state_->held ? most - state_->held : Bytes{};
}

void Budget::add_resident(Bytes bytes) noexcept {
    state_->resident.fetch_add(bytes.count, std::memory_order_relaxed);
}

void Budget::remove_resident(Bytes bytes) noexcept {
    std::uint64_t const before = state_->resident.fetch_sub(bytes.count, std::memory_order_relaxed);
    if (state_->allowance) state_->allowance->give_back(Bytes{before - bytes.count});
}

Bytes Budget::resident() const noexcept {
    return Bytes{state_->resident.load(std::memory_order_relaxed)};
}

Bytes Budget::held() const {
    std::lock_guard const lock(state_->mutex);
    return state_->held;
}

Bytes Budget::held(Purpose purpose) const {
    std::lock_guard const lock(state_->mutex);
    return state_->of_purpose(purpose);
}

Bytes Budget::peak() const {
    std::lock_guard const lock(state_->mutex);
    return state_->peak;
}

void Budget::reset_peak() {
    std::lock_guard const lock(state_->mutex);
    state_->peak = state_->held;
}

bool Budget::is_waited_for() const {
    std::lock_guard const lock(state_->mutex);
    return state_->serving || !state_->waiting.empty();
}

}  // namespace sluice
