// SPDX-License-Identifier: BSD-3-Clause
/// Sends items from every rank to a few others that do not know which ranks will send to them. Cost and memory follow
/// the number of real partners, not the number of ranks.
#pragma once

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
    }

    /// Sends an item to another rank of the context. Returns true if it goes by message.
    bool send(int to, Item const& item) {
        int const local = rings_ ? node_->local_of(to) : -1;
        if (local >= 0)
            rings_->send(local, item);
        else
            messages_->send(to, item);
        return local < 0;
    }

    /// Returns once all that was sent to this rank has been accepted. Collective.
    void finish() {
        if (rings_) rings_->flush_all();
        if (messages_) messages_->flush_all();
        for (bool done = false; !done;) {
            done = !rings_ || rings_->finish(!messages_);
            if (messages_) done = messages_->finish() && done;
        }
    }

    /// The number of items accepted from other ranks.
    std::uint64_t received() const noexcept {
        return (rings_ ? rings_->received() : 0) + (messages_ ? messages_->received() : 0);
    }

  private:
    node::Node* node_;
    std::optional<SparseRings<Item, Taker>> rings_;
    std::optional<SparseMessages<Item, Taker>> messages_;
};

}  // namespace sluice::engine
