// SPDX-License-Identifier: BSD-3-Clause
/// Sends items from every rank to a few others that do not know which ranks will send to them. Cost and memory follow
/// the number of real partners, not the number of ranks.
#pragma once

#include <sched.h>

#include <cstdint>
#include <optional>
#include <type_traits>

#include "engine/sparse/sparse_messages.hpp"
#include "engine/sparse/sparse_rings.hpp"

namespace sluice::engine {

/// A `Taker` is given what arrives, in any order, while this rank sends or finishes:
///
///     void accept(int source, Item const& item);
///     void expect(Item const& item) const noexcept;    // accept() will follow soon: fetch what it will want
///
/// All ranks of the context make an exchange, send their items, and call finish() once. Between two exchanges they meet
/// in another collective, because a rank may return from finish() while a slower one still receives. `tags` is a range
/// of two tags.
template <typename Item, typename Taker>
class SparseExchange {
    static_assert(std::is_trivially_copyable_v<Item>);

  public:
    /// Takes `bytes` from the meter of the context if messages are needed; may throw std::bad_alloc, and the ranks must
    /// agree on that before one sends. `node` may be null: then all goes by message.
    SparseExchange(ContextState& context, node::Node* node, Taker& taker, Bytes bytes, groups::TagRange tags)
        : node_(node) {
        if (node != nullptr && node->has_rings()) rings_.emplace(*node, taker);
        if (!rings_ || node->size() < context.size()) messages_.emplace(context, taker, bytes, tags);
        if (!rings_ || !messages_) return;
        // Ranks may wait for each other in a circle of rings and messages: each takes both while it waits for one.
        rings_->while_waiting([this] { messages_->receive(); });
        messages_->while_waiting([this] { rings_->receive(); });
    }
    SparseExchange(SparseExchange const&) = delete;
    SparseExchange& operator=(SparseExchange const&) = delete;

    /// Sends an item to another rank of the context. Returns true if it goes by message.
    bool send(int to, Item const& item) {
        int const local = rings_ ? node_->local_of(to) : -1;
        if (local >= 0)
            rings_->send(local, item);
        else
            messages_->send(to, item);
        return local < 0;
    }

    enum class Sent {
        by_ring,
        by_message,
        later,    ///< it has to wait for another turn
        earlier,  ///< it was sent in an earlier turn
    };
    /// The same for a caller that goes over all its items once for each turn: so messages are full but for the last to
    /// each rank, whatever the order of the items and the number of ranks.
    ///
    ///     do
    ///         for (…) send_in_turn(to, item);
    ///     while (next_turn());
    Sent send_in_turn(int to, Item const& item) {
        int const local = rings_ ? node_->local_of(to) : -1;
        if (local >= 0) {
            if (turn_ > 0) return Sent::earlier;
            rings_->send(local, item);
            return Sent::by_ring;
        }
        using Turn = typename SparseMessages<Item, Taker>::Turn;
        Turn const turn = messages_->send_in_turn(to, item);
        return turn == Turn::now ? Sent::by_message : turn == Turn::later ? Sent::later : Sent::earlier;
    }
    bool next_turn() {
        if (!messages_ || !messages_->next_turn()) return false;
        ++turn_;
        return true;
    }
    /// How often next_turn() was true.
    int turn() const noexcept { return turn_; }

    /// Returns once all that was sent to this rank has been accepted. Collective.
    void finish() {
        if (rings_) rings_->flush_all();
        if (messages_) messages_->flush_all();
        for (;;) {
            bool done = !rings_ || rings_->finish();
            if (messages_) done = messages_->finish() && done;
            if (done) return;
            sched_yield();  // with more ranks than cores others have to send first
        }
    }

    /// The number of items accepted from other ranks.
    std::uint64_t received() const noexcept {
        return (rings_ ? rings_->received() : 0) + (messages_ ? messages_->received() : 0);
    }

    /// Messages that this rank has sent so far, and how many items each can have.
    std::uint64_t messages() const noexcept { return messages_ ? messages_->sent() : 0; }
    std::size_t items_a_message() const noexcept { return messages_ ? messages_->most_items() : 0; }

  private:
    node::Node* node_;
    int turn_ = 0;
    std::optional<SparseRings<Item, Taker>> rings_;
    std::optional<SparseMessages<Item, Taker>> messages_;
};

}  // namespace sluice::engine
