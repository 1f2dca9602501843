// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/cyclic/cyclic_search.hpp"

#include <algorithm>
#include <limits>

namespace sluice::redistribution {

CycleSearch::CycleSearch(std::size_t ranks, memory::Meter& meter)
    : nodes_(ranks, Node{}, memory::MeteredAllocator<Node>(meter)),
      stack_(ranks, -1, memory::MeteredAllocator<std::int32_t>(meter)) {}

void CycleSearch::set(int rank, std::uint64_t degree, std::uint64_t free) noexcept {
    node(rank) = {.degree = degree, .weight = 0, .free = free, .dest = -1, .stack_position = -1};
}

void CycleSearch::run(RootPort& port) {
    int const ranks = static_cast<int>(nodes_.size());
    for (int rank = 0; rank < ranks; ++rank) {
        if (node(rank).degree == 0) continue;
        ++node(rank).degree;  // next_edge() will subtract one
        next_edge(rank, port);
    }
    for (int i = 0; i < ranks; ++i) {
        while (node(i).degree > 0) {
            push(i);
            while (stack_size_ > 0) {
                Node const& last = node(peek());
                if (last.degree == 0)
                    schedule_shift(port);
                else if (int const position = node(last.dest).stack_position; position < 0)
                    push(last.dest);
                else
                    schedule_cycle(static_cast<std::size_t>(position), port);
            }
        }
    }
}

void CycleSearch::push(int rank) noexcept {
    node(rank).stack_position = static_cast<std::int32_t>(stack_size_);
    stack_[stack_size_++] = rank;
}

int CycleSearch::pop() noexcept {
    int const rank = stack_[--stack_size_];
    node(rank).stack_position = -1;
    return rank;
}

void CycleSearch::next_edge(int rank, RootPort& port) {
    Node& from = node(rank);
    if (--from.degree == 0) return;
    Edge const edge = port.next_edge(rank);
    from.dest = static_cast<std::int32_t>(edge.dest);
    from.weight = edge.weight;
}

/// Case (a): every rank from `first` on sends to the next one, the last one to the first. A rank without a free slot
/// uses its extra block, which is free again afterwards, so that no rank's free space changes.
void CycleSearch::schedule_cycle(std::size_t first, RootPort& port) {
    std::uint64_t quantity = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t least_free = quantity;
    for (std::size_t i = first; i < stack_size_; ++i) {
        quantity = std::min(quantity, at(i).weight);
        least_free = std::min(least_free, at(i).free);
    }
    std::uint64_t const increment = std::min(quantity, std::max<std::uint64_t>(1, least_free));
    int const last = peek();
    while (stack_size_ > first) {
        int const rank = pop();
        int const source = stack_size_ > first ? peek() : last;
        port.schedule(
            rank, {.send_to = node(rank).dest, .receive_from = source, .quantity = quantity, .increment = increment});
        node(rank).weight -= quantity;
        if (node(rank).weight == 0) next_edge(rank, port);
    }
}

/// Case (b): the last rank has nothing to send, so all its incoming blocks fit into its free space at once. The ranks
/// between the first and the last receive and send in increments.
void CycleSearch::schedule_shift(RootPort& port) {
    std::uint64_t quantity = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t least_free = quantity;
    for (std::size_t i = 0; i + 1 < stack_size_; ++i) {
        quantity = std::min(quantity, at(i).weight);
        if (i > 0) least_free = std::min(least_free, at(i).free);
    }
    std::uint64_t const increment = std::min(quantity, std::max<std::uint64_t>(1, least_free));
    bool is_last = true;
    while (stack_size_ > 0) {
        int const rank = pop();
        bool const is_first = stack_size_ == 0;
        if (is_first && is_last) return;  // a node alone has no rank to send to
        Node& here = node(rank);
        port.schedule(rank, {.send_to = is_last ? -1 : here.dest,
                             .receive_from = is_first ? -1 : peek(),
                             .quantity = quantity,
                             .increment = increment});
        if (is_first) here.free += quantity;
        if (is_last) here.free -= quantity;
        if (!is_last) {
            here.weight -= quantity;
            if (here.weight == 0) next_edge(rank, port);
        }
        is_last = false;
    }
}

}  // namespace sluice::redistribution
