// SPDX-License-Identifier: BSD-3-Clause
/// Tokens: the right to hold messages for a moment. One pool for what a rank receives, another for what it serves, so
/// that neither can use up what the other needs to go on.
///
///     tokens as bytes      |####|####|........|      up to the pool's limit and what the budget has
///     tokens as messages   |#|#|#|.|.|.|.|.|         tokens = 8
///
/// In a pool whose First is `always` one set is always granted: the first where nothing is held, whatever its size.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "sluice/budget.hpp"

namespace sluice::budget {

/// What a set was granted; goes back when it dies. Can be handed on message by message.
class Tokens {
  public:
    Tokens() = default;
    Tokens(Tokens&& other) noexcept = default;
    Tokens& operator=(Tokens&& other) noexcept;
    ~Tokens() { release(); }
    void release() noexcept;
    /// Those of one message of `bytes`.
    Tokens split(Bytes bytes) noexcept;
    Bytes bytes() const noexcept { return counts_ ? bytes_ : Bytes{}; }

  private:
    friend class TokenPool;
    struct Counts {  // tokens may go back from another thread
        std::atomic<std::uint64_t> held{0};
        std::atomic<std::uint64_t> messages{0};
        std::uint64_t peak = 0;
    };
    std::shared_ptr<Counts> counts_;  // lives on: what was fetched may outlive its store
    std::uint64_t messages_ = 0;
    Bytes bytes_;
    Lease lease_;
};

/// Not thread-safe, but that tokens may go back from any thread.
class TokenPool {
  public:
    enum class First { always, like_any };

    /// Bytes that a pool may hold: the least of what is said.
    class Limit {
      public:
        explicit(false) Limit(Bytes fixed) noexcept : fixed_(fixed) {}
        /// Room for so many sets as large as the largest so far, and at least `least`.
        static Limit room_for(std::uint64_t sets, Bytes least) noexcept {
            Limit limit(least);
            limit.sets_ = sets;
            return limit;
        }
        /// And no more than a part of the budget's limit, as that shrinks and grows.
        Limit within_part(std::uint64_t part) const noexcept {
            Limit limit = *this;
            limit.part_ = part;
            return limit;
        }

        void see(Bytes set) noexcept { largest_ = std::max(largest_, set); }
        void widen() noexcept;
        Bytes of(Budget const& budget) const noexcept;

      private:
        Bytes fixed_;  // where sets_ is not 0: the least
        std::uint64_t sets_ = 0;
        std::uint64_t part_ = 0;  // 0: whatever the budget is
        Bytes largest_;
    };

    /// `limit`: bytes that the pool may hold of the budget. `messages`: tokens that count messages instead, where not
    /// 0: then neither the limit nor the budget keeps anything back.
    TokenPool(Budget& budget, Purpose purpose, Limit limit, First first, std::uint64_t messages = 0)
        : budget_(&budget), purpose_(purpose), limit_(limit), first_(first), messages_(messages) {}
    TokenPool(TokenPool const&) = delete;
    TokenPool& operator=(TokenPool const&) = delete;

    /// For a set of so many messages and bytes; nothing where they do not fit now.
    std::optional<Tokens> try_take(std::uint64_t messages, Bytes bytes);
    /// Whatever is held.
    Tokens take_beyond(std::uint64_t messages, Bytes bytes);

    /// What it holds does not come back as it is: where its limit is room for sets, it becomes twice as many.
    void widen() noexcept { limit_.widen(); }

    Bytes limit() const noexcept { return limit_.of(*budget_); }
    Bytes held() const noexcept { return Bytes{counts_->held}; }
    Bytes peak() const noexcept { return Bytes{counts_->peak}; }
    std::uint64_t held_messages() const noexcept { return counts_->messages; }

  private:
    Tokens granted(std::uint64_t messages, Bytes bytes, Lease lease);

    Budget* budget_;
    Purpose purpose_;
    Limit limit_;
    First first_;
    std::uint64_t messages_;
    std::shared_ptr<Tokens::Counts> counts_ = std::make_shared<Tokens::Counts>();
};

}  // namespace sluice::budget
