// SPDX-License-Identifier: BSD-3-Clause
/// Tokens are the right to hold messages for a moment. A rank has one pool for messages it receives and another for
/// messages it serves, so that neither can use up what the other needs to make progress.
///
///     tokens as bytes      |####|####|........|      up to the pool's limit and the budget's room
///     tokens as messages   |#|#|#|.|.|.|.|.|         tokens = 8
///
/// A pool whose First is `always` grants the first set whatever its size if it holds no tokens.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "sluice/budget.hpp"

namespace sluice::budget {

/// The tokens granted to one set, returned to the pool when this object dies. They can be split off message by message.
class Tokens {
  public:
    Tokens() = default;
    Tokens(Tokens&& other) noexcept = default;
    Tokens& operator=(Tokens&& other) noexcept;
    ~Tokens() { release(); }
    void release() noexcept;
    /// Splits off the tokens of one message of `bytes`.
    Tokens split(Bytes bytes) noexcept;
    Bytes bytes() const noexcept { return counts_ ? bytes_ : Bytes{}; }

  private:
    friend class TokenPool;
    // Shared, because tokens may go back from another thread.
    struct Counts {
        std::atomic<std::uint64_t> held{0};
        std::atomic<std::uint64_t> messages{0};
        std::uint64_t peak = 0;
    };
    std::shared_ptr<Counts> counts_;  // shared, because fetched data may outlive its store
    std::uint64_t messages_ = 0;
    Bytes bytes_;
    Lease lease_;
};

/// Not thread-safe, except that any thread may give tokens back.
class TokenPool {
  public:
    enum class First { always, like_any };

    /// The bytes that a pool may hold: the smallest of the limits given.
    class Limit {
      public:
        explicit(false) Limit(Bytes fixed) noexcept : fixed_(fixed) {}
        /// Makes a limit with room for `sets` sets as large as the largest so far, and for at least `least`.
        static Limit room_for(std::uint64_t sets, Bytes least) noexcept {
            Limit limit(least);
            limit.sets_ = sets;
            return limit;
        }
        /// Adds a limit of one `part`-th of the budget's limit, which may change.
        Limit within_part(std::uint64_t part) const noexcept {
            Limit limit = *this;
            limit.part_ = part;
            return limit;
        }

        void see(Bytes set) noexcept { largest_ = std::max(largest_, set); }
        void widen() noexcept;
        Bytes of(Budget const& budget) const noexcept;

      private:
        Bytes fixed_;  // the limit or, if sets_ is not 0, its least value
        std::uint64_t sets_ = 0;
        std::uint64_t part_ = 0;  // 0: no limit by the budget
        Bytes largest_;
    };

    /// `limit`: bytes of the budget that the pool may hold. `messages`: if not 0, tokens count messages, and neither
    /// the limit nor the budget refuses any.
    TokenPool(Budget& budget, Purpose purpose, Limit limit, First first, std::uint64_t messages = 0)
        : budget_(&budget), purpose_(purpose), limit_(limit), first_(first), messages_(messages) {}
    TokenPool(TokenPool const&) = delete;
    TokenPool& operator=(TokenPool const&) = delete;

    /// Takes tokens for a set of `messages` and `bytes`; returns nothing if they do not fit now.
    std::optional<Tokens> try_take(std::uint64_t messages, Bytes bytes);
    /// Takes tokens even if the pool is full.
    Tokens take_beyond(std::uint64_t messages, Bytes bytes);

    /// Doubles the number of sets that the limit has room for. Call it when the held tokens cannot come back without
    /// further ones.
    void widen() noexcept { limit_.widen(); }

    Bytes limit() const noexcept { return limit_.of(*budget_); }
    Bytes held() const noexcept { return Bytes{counts_->held}; }
    Bytes peak() const noexcept { return Bytes{counts_->peak}; }
    /// From here on peak() begins anew.
    void forget_peak() noexcept { counts_->peak = counts_->held; }
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
