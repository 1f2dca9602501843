#include "sluice/budget.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <utility>

#include "base/units.hpp"
#include "sluice/error.hpp"

namespace sluice {

namespace detail {

// The bytes, and the queue of those who wait for some:
//
//     0            held                       limit
//     |############|..........................|        waiting: [64 KiB] [2 MiB] [1 KiB] …
//                                                               front: is served first, nobody overtakes it
//
// Whoever gives bytes back serves the front as long as it fits. One thread serves at a time and without the lock held,
// so callbacks run in order, may use the budget, and a callback that gives its bytes back at once does not recurse.
struct BudgetState {
    explicit BudgetState(Bytes bound) : limit(bound) {}

    struct Waiter {
        Bytes amount;
        Purpose purpose;
        std::function<void(Lease)> go;
    };

    bool can_ever_fit(Bytes amount) const { return amount <= std::max(limit, Budget::guaranteed_minimum); }
    bool fits(Bytes amount) const {
        if (amount.count == 0) return true;
        if (held.count == 0) return can_ever_fit(amount);
        return held <= limit && amount <= limit - held;
    }
    void take(Bytes amount, Purpose purpose) {
        held += amount;
        of_purpose(purpose) += amount;
        peak = std::max(peak, held);
    }
    void give(Bytes amount, Purpose purpose) {
        held -= amount;
        of_purpose(purpose) -= amount;
    }
    Bytes& of_purpose(Purpose purpose) { return by_purpose[static_cast<std::size_t>(purpose)]; }

    std::mutex mutex;
    Bytes limit;
    Bytes held;
    Bytes peak;
    std::array<Bytes, 6> by_purpose{};
    std::deque<Waiter> waiting;
    bool serving = false;
};

}  // namespace detail

namespace {

// `lock` is held on entry and on return. Calls back with a lease made by `lease_of(waiter)`.
template <typename LeaseOf>
void serve(detail::BudgetState& state, std::unique_lock<std::mutex>& lock, LeaseOf lease_of) noexcept {
    if (state.serving) return;  // who serves looks at the queue again after each callback
    state.serving = true;
    while (!state.waiting.empty() && state.fits(state.waiting.front().amount)) {
        detail::BudgetState::Waiter waiter = std::move(state.waiting.front());
        state.waiting.pop_front();
        state.take(waiter.amount, waiter.purpose);
        lock.unlock();
        waiter.go(lease_of(waiter));
        waiter.go = nullptr;  // what the callback captured may give bytes back too: not under the lock
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

Budget::Budget(Bytes limit) : state_(std::make_shared<detail::BudgetState>(limit)) {}

std::optional<Lease> Budget::try_lease(Bytes amount, Purpose purpose) {
    std::unique_lock const lock(state_->mutex);
    // Bytes that come free belong to those who wait; otherwise a large request could wait for ever.
    if (amount.count != 0 && !state_->waiting.empty()) return std::nullopt;
    if (!state_->fits(amount)) return std::nullopt;
    state_->take(amount, purpose);
    return Lease(state_, amount, purpose);
}

void Budget::when_free(Bytes amount, Purpose purpose, std::function<void(Lease)> go) {
    // A copy of the pointer: the callback may end the Budget.
    std::shared_ptr<detail::BudgetState> const state = state_;
    std::unique_lock lock(state->mutex);
    if (!state->can_ever_fit(amount))
        throw Error(ErrorCode::out_of_memory, "a lease of " + base::format_bytes(amount) +
                                                  " can never fit: the budget of this process is " +
                                                  base::format_bytes(state->limit) + " (setting memory)");
    state->waiting.push_back({amount, purpose, std::move(go)});
    serve(*state, lock, [&](auto const& waiter) { return Lease(state, waiter.amount, waiter.purpose); });
}

Lease Budget::lease_beyond(Bytes amount, Purpose purpose) {
    std::lock_guard const lock(state_->mutex);
    state_->take(amount, purpose);
    return Lease(state_, amount, purpose);
}

void Budget::set_limit(Bytes limit) {
    std::shared_ptr<detail::BudgetState> const state = state_;
    std::unique_lock lock(state->mutex);
    state->limit = limit;
    serve(*state, lock, [&](auto const& waiter) { return Lease(state, waiter.amount, waiter.purpose); });
}

Bytes Budget::limit() const {
    std::lock_guard const lock(state_->mutex);
    return state_->limit;
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

}  // namespace sluice
