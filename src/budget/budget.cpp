// SPDX-License-Identifier: BSD-3-Clause
#include "sluice/budget.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "base/given_function.hpp"
#include "base/units.hpp"
#include "budget/allowance.hpp"
#include "kernel/keeper.hpp"
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

    /// Whether more is held than this process may hold, or requests wait.
    bool is_short(Bytes keep) const { return held > bound() || (allowance && held > keep) || !waiting.empty(); }
    /// Asks for what is kept for reuse. The caller holds no lock. A thread that comes while another one asks does not
    /// wait for it: the two might hold what the other needs.
    void ask_keepers() noexcept {
        if (asking.test_and_set(std::memory_order_acquire)) return;
        for (std::size_t i = 0;; ++i) {
            std::shared_ptr<kernel::Keeper> keeper;
            {
                std::lock_guard const lock(mutex);
                if (i >= keepers.size()) break;
                keeper = keepers[i].lock();
            }
            if (keeper) keeper->give_back();
        }
        asking.clear(std::memory_order_release);
    }
    std::vector<std::weak_ptr<kernel::Keeper>> keepers;
    std::atomic_flag asking = ATOMIC_FLAG_INIT;
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
    auto const try_once = [&]() -> std::optional<Lease> {
        std::unique_lock const lock(state_->mutex);
        // Bytes that become free belong to the requests that wait; otherwise a large request could wait for ever.
        if (amount.count != 0 && !state_->waiting.empty()) return std::nullopt;
        if (!state_->fits(amount)) return std::nullopt;
        state_->take(amount, purpose);
        return Lease(state_, amount, purpose);
    };
    if (auto lease = try_once()) return lease;
    state_->ask_keepers();
    return try_once();
}

void Budget::when_free(Bytes amount, Purpose purpose, std::function<void(Lease)> go) {
    base::require(go, "Budget::when_free");
    // The copy keeps the state alive, because the callback may destroy the Budget.
    std::shared_ptr<detail::BudgetState> const state = state_;
    std::unique_lock lock(state->mutex);
    if (!state->can_ever_fit(amount))
        throw Error(ErrorCode::out_of_memory,
                    "a lease of " + base::format_bytes(amount) + " can never fit: the budget of this process is " +
                        base::format_bytes(std::max(state->bound(), state->ceiling)) + " (setting memory)");
    state->waiting.push_back({amount, purpose, std::move(go)});
    serve(*state, lock, [&](auto const& waiter) { return Lease(state, waiter.amount, waiter.purpose); });
    bool const is_short = !state->waiting.empty();
    lock.unlock();
    if (is_short) state->ask_keepers();  // what goes back serves the queue
}

Lease Budget::lease_beyond(Bytes amount, Purpose purpose) {
    std::unique_lock lock(state_->mutex);
    state_->take(amount, purpose);
    Lease lease(state_, amount, purpose);
    bool const is_beyond = state_->held > state_->bound();
    lock.unlock();
    if (is_beyond) state_->ask_keepers();
    return lease;
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
    auto const lease_of = [&](auto const& waiter) { return Lease(state, waiter.amount, waiter.purpose); };
    serve(*state, lock, lease_of);
    if (!state->is_short(keep)) return;
    lock.unlock();
    state->ask_keepers();
    lock.lock();
    state->keep(keep);
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

void budget::add_keeper(Budget const& budget, std::weak_ptr<kernel::Keeper> keeper) {
    std::lock_guard const lock(budget.state_->mutex);
    auto& keepers = budget.state_->keepers;
    std::erase_if(keepers, [](auto const& one) { return one.expired(); });
    keepers.push_back(std::move(keeper));
}

}  // namespace sluice
