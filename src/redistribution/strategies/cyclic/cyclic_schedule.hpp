// SPDX-License-Identifier: BSD-3-Clause
/// Creates the schedule of the cyclic scheduler (MADRE, section 2.2): edges flow to the root and actions back,
/// pipelined.
///
///     every rank                                     root
///     free slots, number of edges, first edges ----> starts the search
///     next edges                               <---- request, as soon as it begins with the edges it has
///     next edges                               ----> waits here when it needs them
///     appends to its schedule                  <---- actions, when a message is full and at the end
#pragma once

#include <mpi.h>

#include <cstdint>

#include "engine/context_state.hpp"
#include "groups/tags.hpp"
#include "memory/meter.hpp"
#include "redistribution/block_order.hpp"
#include "redistribution/strategies/cyclic/cyclic_search.hpp"

namespace sluice::redistribution {

/// The actions of one rank, in order. It grows while it is made; no block has moved then.
using Schedule = memory::MeteredVector<Action>;

/// Memory, taken by the constructor: at the root, 16 bytes for each edge and 24 bytes for each action of one message of
/// every rank; elsewhere one message of each kind.
class ScheduleMaker {
  public:
    ScheduleMaker(engine::ContextState& context, memory::Meter& meter);

    /// Collective. Returns false, on all ranks, if a rank has no memory for its schedule.
    bool make(BlockOrder const& order, Schedule& schedule);

  private:
    class Root;

    /// A message from a rank to the root. The first one begins with the facts that the root needs at the start.
    struct EdgeHead {
        std::uint64_t degree = 0;
        std::uint64_t free = 0;
    };
    static_assert(sizeof(EdgeHead) == sizeof(Edge));

    enum Tag : int {
        k_tag_edges = groups::tags::k_cyclic_schedule.first,
        k_tag_wish,
        k_tag_actions,
        k_tag_last_actions
    };
    static constexpr int k_root = 0;

    bool at_root() const noexcept { return context_.rank() == k_root; }
    std::size_t per_rank() const noexcept { return at_root() ? static_cast<std::size_t>(context_.size()) : 0; }
    std::uint64_t degree(BlockOrder const& order) const noexcept;
    Edge find_next_edge(BlockOrder const& order) noexcept;
    std::size_t fill_edges(BlockOrder const& order) noexcept;
    void append(Action const& action, Schedule& schedule) noexcept;
    void serve_root(BlockOrder const& order, Schedule& schedule);

    engine::ContextState& context_;
    std::size_t edges_a_message_;
    std::size_t actions_a_message_;
    int edge_cursor_ = 0;                    // the edges for ranks below this one have been sent
    bool is_whole_ = true;                   // no action was lost for lack of memory
    memory::MeteredVector<Edge> edges_;      // the head, then the edges of one message
    memory::MeteredVector<Action> actions_;  // of one message

    // At the root, one entry or one message for each rank.
    struct Queue {
        std::size_t next = 0;
        std::size_t size = 0;
        std::uint64_t unseen = 0;  // edges that have not arrived yet
    };
    CycleSearch search_;
    memory::MeteredVector<Queue> queues_;
    memory::MeteredVector<Edge> queued_edges_;
    memory::MeteredVector<std::size_t> waiting_count_;
    memory::MeteredVector<Action> waiting_actions_;
};

}  // namespace sluice::redistribution
