// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/cyclic/cyclic_search.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <vector>

namespace sluice::redistribution {
namespace {

/// A transmission graph that the test gives; edges are sorted by destination, as the ranks send them.
class HandMadeGraph final : public RootPort {
  public:
    explicit HandMadeGraph(int ranks)
        : edges(static_cast<std::size_t>(ranks)), free(edges.size()), schedules(edges.size()) {}

    Edge next_edge(int rank) override {
        auto& queue = edges[static_cast<std::size_t>(rank)];
        EXPECT_FALSE(queue.empty()) << "an edge too many was asked of rank " << rank;
        Edge const edge = queue.front();
        queue.pop_front();
        return edge;
    }
    void schedule(int rank, Action const& action) override {
        schedules[static_cast<std::size_t>(rank)].push_back(action);
    }

    void search() {
        CycleSearch search(edges.size(), meter);
        for (std::size_t rank = 0; rank < edges.size(); ++rank)
            search.set(static_cast<int>(rank), edges[rank].size(), free[rank]);
        search.run(*this);
    }

    memory::Meter meter;
    std::vector<std::deque<Edge>> edges;
    std::vector<std::uint64_t> free;
    std::vector<std::vector<Action>> schedules;
};

Action send(int to, std::uint64_t quantity, std::uint64_t increment) {
    return {to, -1, quantity, increment};
}
Action receive(int from, std::uint64_t quantity, std::uint64_t increment) {
    return {-1, from, quantity, increment};
}
Action send_receive(int to, int from, std::uint64_t quantity, std::uint64_t increment) {
    return {to, from, quantity, increment};
}
using Actions = std::vector<Action>;

TEST(CycleSearch, schedules_one_cycle_through_all_ranks) {
    HandMadeGraph graph(3);
    for (int rank = 0; rank < 3; ++rank)
        graph.edges[static_cast<std::size_t>(rank)] = {{7, (rank + 1) % 3}};
    graph.free = {2, 3, 4};
    graph.search();
    EXPECT_EQ(graph.schedules[0], Actions{send_receive(1, 2, 7, 2)});
    EXPECT_EQ(graph.schedules[1], Actions{send_receive(2, 0, 7, 2)});
    EXPECT_EQ(graph.schedules[2], Actions{send_receive(0, 1, 7, 2)});
}

TEST(CycleSearch, goes_one_block_at_a_time_where_somebody_in_the_cycle_has_no_free_space) {
    HandMadeGraph graph(2);
    graph.edges = {{{5, 1}}, {{5, 0}}};
    graph.free = {0, 9};
    graph.search();
    EXPECT_EQ(graph.schedules[0], Actions{send_receive(1, 1, 5, 1)});
}

TEST(CycleSearch, never_increments_by_more_than_the_quantity) {
    HandMadeGraph graph(2);
    graph.edges = {{{5, 1}}, {{5, 0}}};
    graph.free = {100, 90};
    graph.search();
    EXPECT_EQ(graph.schedules[0], Actions{send_receive(1, 1, 5, 5)});
}

TEST(CycleSearch, schedules_a_shift_along_a_path) {
    HandMadeGraph graph(3);
    graph.edges = {{{6, 1}}, {{4, 2}}, {}};
    graph.free = {0, 3, 10};
    graph.search();
    // 4 blocks go along 0 -> 1 -> 2, limited by the free space of rank 1; then the other 2 go from 0 to 1, which has no
    // more blocks to send.
    EXPECT_EQ(graph.schedules[0], (Actions{send(1, 4, 3), send(1, 2, 2)}));
    EXPECT_EQ(graph.schedules[1], (Actions{send_receive(2, 0, 4, 3), receive(0, 2, 2)}));
    EXPECT_EQ(graph.schedules[2], Actions{receive(1, 4, 3)});
}

TEST(CycleSearch, finds_the_cycle_inside_the_path_and_goes_on_before_it) {
    HandMadeGraph graph(3);
    graph.edges = {{{2, 1}}, {{3, 2}}, {{5, 1}}};  // 0 leads into the cycle 1 <-> 2
    graph.free = {0, 4, 1};
    graph.search();
    EXPECT_EQ(graph.schedules[1].front(), send_receive(2, 2, 3, 1));
    EXPECT_EQ(graph.schedules[0], Actions{send(1, 2, 2)});
    EXPECT_EQ(graph.schedules[2], (Actions{send_receive(1, 1, 3, 1), send(1, 2, 2)}));
}

TEST(CycleSearch, pairs_the_ranks_of_a_complete_graph_in_dictionary_order) {
    HandMadeGraph graph(4);
    for (int from = 0; from < 4; ++from)
        for (int to = 0; to < 4; ++to)
            if (to != from) graph.edges[static_cast<std::size_t>(from)].push_back({5, to});
    graph.free = {1, 1, 1, 1};
    graph.search();
    for (int rank = 0; rank < 4; ++rank) {  // section 3 says of its fifth experiment: cycles have length 2
        Actions expected;
        for (int other = 0; other < 4; ++other)
            if (other != rank) expected.push_back(send_receive(other, other, 5, 1));
        EXPECT_EQ(graph.schedules[static_cast<std::size_t>(rank)], expected);
    }
}

/// Executes schedules step by step and checks every rank's free space. Returns the number of blocks moved.
std::uint64_t executed(HandMadeGraph const& graph, std::vector<std::uint64_t> free) {
    std::size_t const ranks = graph.schedules.size();
    std::vector<std::size_t> next(ranks, 0);
    std::uint64_t moved = 0;
    for (bool any = true; any;) {
        any = false;
        for (std::size_t from = 0; from < ranks;
             ++from) {  // an action can start when its neighbours have reached it, too
            std::vector<std::size_t> members;
            std::size_t rank = from;
            bool ready = true;
            while (ready) {
                if (next[rank] == graph.schedules[rank].size()) {
                    ready = false;
                    break;
                }
                Action const& action = graph.schedules[rank][next[rank]];
                if (rank == from && members.empty() && action.send_to < 0) ready = false;
                members.push_back(rank);
                if (action.send_to < 0) break;
                std::size_t const to = static_cast<std::size_t>(action.send_to);
                if (next[to] == graph.schedules[to].size() ||
                    graph.schedules[to][next[to]].receive_from != static_cast<int>(rank)) {
                    ready = false;
                    break;
                }
                rank = to;
                if (rank == from) break;
            }
            Action const* const first =
                next[from] < graph.schedules[from].size() ? &graph.schedules[from][next[from]] : nullptr;
            if (!ready || first == nullptr || (rank != from && first->receive_from >= 0)) continue;
            for (std::size_t member : members) {
                Action const& action = graph.schedules[member][next[member]++];
                if (action.send_to < 0) {
                    EXPECT_LE(action.quantity, free[member]);
                    free[member] -= action.quantity;
                } else {
                    moved += action.quantity;
                    if (action.receive_from < 0)
                        free[member] += action.quantity;
                    else
                        EXPECT_LE(action.increment, std::max<std::uint64_t>(1, free[member]));
                }
            }
            any = true;
        }
    }
    for (std::size_t rank = 0; rank < ranks; ++rank)
        EXPECT_EQ(next[rank], graph.schedules[rank].size());
    return moved;
}

TEST(CycleSearch, schedules_every_block_of_random_graphs_and_never_more_than_fits) {
    std::mt19937 random(7);
    for (int round = 0; round < 500; ++round) {
        int const ranks = 1 + static_cast<int>(random() % 7);
        HandMadeGraph graph(ranks);
        std::vector<std::uint64_t> in(graph.edges.size()), out(graph.edges.size());
        std::uint64_t blocks = 0;
        for (std::size_t from = 0; from < graph.edges.size(); ++from)
            for (std::size_t to = 0; to < graph.edges.size(); ++to) {
                std::uint64_t const weight = random() % 3 == 0 ? random() % 20 : 0;
                if (from == to || weight == 0) continue;
                graph.edges[from].push_back({weight, static_cast<std::int64_t>(to)});
                out[from] += weight;
                in[to] += weight;
                blocks += weight;
            }
        for (std::size_t rank = 0; rank < graph.edges.size(); ++rank)  // the incoming blocks fit, often only just
            graph.free[rank] = (in[rank] > out[rank] ? in[rank] - out[rank] : 0) + (random() % 2) * (random() % 5);
        graph.search();
        for (auto const& left : graph.edges)
            EXPECT_TRUE(left.empty());
        ASSERT_EQ(executed(graph, graph.free), blocks) << "round " << round;
    }
}

}  // namespace
}  // namespace sluice::redistribution
