// SPDX-License-Identifier: BSD-3-Clause
/// The root's part of the cyclic scheduler (MADRE, section 2.2 and Figure 2): a depth-first search of the transmission
/// graph.
///
/// Nodes are ranks; an edge of weight k goes from i to j while i has k blocks to send to j. At any moment the root
/// knows one edge of each node. The stack holds a path; it grows until its last node's edge leads back into it (a
/// cycle) or its last node has nothing left to send (a shift). Either becomes one action on each node of it.
#pragma once

#include <cstdint>
#include <span>

#include "memory/meter.hpp"

namespace sluice::redistribution {

/// The current edge that departs from a rank.
struct Edge {
    std::uint64_t weight = 0;
    std::int64_t dest = -1;
};

/// Sends `quantity` blocks to one rank, receives as many from another, or both, in steps of `increment`.
struct Action {
    std::int32_t send_to = -1;
    std::int32_t receive_from = -1;
    std::uint64_t quantity = 0;
    std::uint64_t increment = 0;
    bool operator==(Action const&) const = default;
};

/// Supplies the edges of the search and takes its actions.
class RootPort {
  public:
    virtual ~RootPort() = default;
    /// Returns the next edge that departs from `rank`; called as often as its degree was at the start.
    virtual Edge next_edge(int rank) = 0;
    virtual void schedule(int rank, Action const& action) = 0;
};

/// Takes 40 bytes for each rank, allocated by the constructor.
class CycleSearch {
  public:
    CycleSearch(std::size_t ranks, memory::Meter& meter);

    /// Sets what is known of one rank at the start.
    void set(int rank, std::uint64_t degree, std::uint64_t free) noexcept;
    /// Procedure main of Figure 2.
    void run(RootPort& port);

  private:
    struct Node {
        std::uint64_t degree = 0;  // edges left, including the current one
        std::uint64_t weight = 0;  // of the current edge
        std::uint64_t free = 0;    // free slots after all scheduled actions
        std::int32_t dest = -1;    // of the current edge
        std::int32_t stack_position = -1;
    };

    Node& node(int rank) noexcept { return nodes_[static_cast<std::size_t>(rank)]; }
    Node& at(std::size_t position) noexcept { return node(stack_[position]); }
    void push(int rank) noexcept;
    int pop() noexcept;
    int peek() const noexcept { return stack_[stack_size_ - 1]; }
    void next_edge(int rank, RootPort& port);
    void schedule_cycle(std::size_t first, RootPort& port);
    void schedule_shift(RootPort& port);

    memory::MeteredVector<Node> nodes_;
    memory::MeteredVector<std::int32_t> stack_;
    std::size_t stack_size_ = 0;
};

}  // namespace sluice::redistribution
