// SPDX-License-Identifier: BSD-3-Clause
#include "budget/token_pool.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace sluice::budget {

Bytes TokenPool::Limit::of(Budget const& budget) const noexcept {
    Bytes limit = fixed_;
    if (sets_ != 0) {
        std::uint64_t const most = std::numeric_limits<std::uint64_t>::max() / sets_;
        limit = std::max(limit, Bytes{std::min(largest_.count, most)} * sets_);
    }
    return part_ == 0 ? limit : std::min(limit, budget.limit() / part_);
}

void TokenPool::Limit::widen() noexcept {
    constexpr std::uint64_t k_most = std::uint64_t{1} << 32;
    sets_ = std::min(2 * sets_, k_most);
    if (sets_ != 0) fixed_ = std::min(fixed_ * 2, Bytes{std::uint64_t{1} << 60});
}

Tokens& Tokens::operator=(Tokens&& other) noexcept {
    if (this != &other) {
        release();
        counts_ = std::move(other.counts_);
        messages_ = other.messages_;
        bytes_ = other.bytes_;
        lease_ = std::move(other.lease_);
    }
    return *this;
}

void Tokens::release() noexcept {
    std::shared_ptr<Counts> const counts = std::exchange(counts_, nullptr);
    if (counts == nullptr) return;
    counts->held -= bytes_.count;
    counts->messages -= messages_;
    lease_.release();
}

Tokens Tokens::split(Bytes bytes) noexcept {
    Tokens part;
    part.counts_ = counts_;
    part.messages_ = std::min<std::uint64_t>(messages_, 1);
    part.bytes_ = std::min(bytes, bytes_);
    part.lease_ = lease_.split(part.bytes_);
    messages_ -= part.messages_;
    bytes_ -= part.bytes_;
    return part;
}

Tokens TokenPool::granted(std::uint64_t messages, Bytes bytes, Lease lease) {
    Tokens tokens;
    tokens.counts_ = counts_;
    tokens.messages_ = messages;
    tokens.bytes_ = bytes;
    tokens.lease_ = std::move(lease);
    counts_->held += bytes.count;
    counts_->messages += messages;
    counts_->peak = std::max(counts_->peak, counts_->held.load());
    return tokens;
}

std::optional<Tokens> TokenPool::try_take(std::uint64_t messages, Bytes bytes) {
    bool const first = first_ == First::always && counts_->messages == 0;
    limit_.see(bytes);
    if (messages_ != 0) {  // messages are limited here; bytes are counted but limit nothing
        if (!first && counts_->messages + messages > messages_) return std::nullopt;
        return take_beyond(messages, bytes);
    }
    if (Bytes{counts_->held} + bytes > limit() && !first) return std::nullopt;
    if (std::optional<Lease> lease = budget_->try_lease(bytes, purpose_))
        return granted(messages, bytes, *std::move(lease));
    if (first) return take_beyond(messages, bytes);
    return std::nullopt;
}

Tokens TokenPool::take_beyond(std::uint64_t messages, Bytes bytes) {
    return granted(messages, bytes, budget_->lease_beyond(bytes, purpose_));
}

}  // namespace sluice::budget
