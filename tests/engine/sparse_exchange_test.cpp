// SPDX-License-Identifier: BSD-3-Clause
#include "engine/sparse/sparse_exchange.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "sluice/context.hpp"

namespace sluice::engine {
namespace {

struct Letter {
    std::uint64_t number;
    std::uint64_t sender;
    std::uint64_t target;
};

/// Keeps the numbers that arrive from each rank.
class Mailbox {
  public:
    explicit Mailbox(int rank) : rank_(rank) {}
    void accept(int source, Letter const& letter) {
        EXPECT_EQ(letter.sender, static_cast<std::uint64_t>(source));
        EXPECT_EQ(letter.target, static_cast<std::uint64_t>(rank_));
        EXPECT_TRUE(numbers[source].insert(letter.number).second) << letter.number << " arrived twice";
    }
    void expect(Letter const& letter) const noexcept { EXPECT_EQ(letter.target, static_cast<std::uint64_t>(rank_)); }
    std::map<int, std::set<std::uint64_t>> numbers;

  private:
    int rank_;
};

enum class Way { messages, rings };

class SparseExchangeTest : public testing::TestWithParam<Way> {
  protected:
    ContextState& state() { return ContextState::of(context_); }
    /// Collective. Sends `count(from, to)` letters from each rank to each other one, with `bytes` of memory for
    /// packets.
    template <typename Count>
    void exchange(Count const& count, Bytes bytes) {
        int const rank = state().rank();
        std::shared_ptr<node::Node> const node = GetParam() == Way::rings ? state().node(256_KiB) : nullptr;
        Mailbox mailbox(rank);
        SparseExchange<Letter, Mailbox> letters(state(), node.get(), mailbox, bytes, groups::tags::k_addresses);
        for (int to = 0; to < state().size(); ++to) {
            if (to == rank) continue;
            for (std::uint64_t number = 0; number < count(rank, to); ++number) {
                bool const by_message =
                    letters.send(to, {number, static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(to)});
                EXPECT_TRUE(by_message || node != nullptr);
            }
        }
        letters.finish();
        std::uint64_t all = 0;
        for (int from = 0; from < state().size(); ++from) {
            if (from == rank) continue;
            EXPECT_EQ(mailbox.numbers[from].size(), count(from, rank)) << "from rank " << from;
            all += count(from, rank);
        }
        EXPECT_EQ(letters.received(), all);
        EXPECT_TRUE(state().all_true(true));  // the ranks meet before the next exchange
    }

    /// Collective. The same for items in the order in which `order` puts their targets, which go over again in turns.
    /// As many must come to a rank as leave it.
    template <typename Order>
    void exchange_in_turns(std::uint64_t count, Bytes bytes, Order const& order) {
        auto const ranks = static_cast<std::uint64_t>(state().size());
        auto const rank = static_cast<std::uint64_t>(state().rank());
        std::shared_ptr<node::Node> const node = GetParam() == Way::rings ? state().node(256_KiB) : nullptr;
        std::vector<std::uint64_t> targets;
        for (std::uint64_t i = 0; i < count * ranks; ++i)
            targets.push_back(i % ranks);
        order(targets);
        Mailbox mailbox(state().rank());
        SparseExchange<Letter, Mailbox> letters(state(), node.get(), mailbox, bytes, groups::tags::k_addresses);
        using Sent = SparseExchange<Letter, Mailbox>::Sent;
        std::uint64_t left = 0;
        do {
            for (std::uint64_t i = 0; i < targets.size(); ++i) {
                if (targets[i] == rank) continue;
                Sent const sent = letters.send_in_turn(static_cast<int>(targets[i]), {i, rank, targets[i]});
                if (sent == Sent::by_message || sent == Sent::by_ring) ++left;
            }
        } while (letters.next_turn());
        letters.finish();
        std::map<std::uint64_t, std::uint64_t> for_each;
        for (std::uint64_t const target : targets)
            if (target != rank) ++for_each[target];
        std::uint64_t all = 0;
        std::uint64_t full = 0;
        for (auto const& [target, number] : for_each) {
            all += number;
            bool const by_ring = node != nullptr && node->has_rings() && node->local_of(static_cast<int>(target)) >= 0;
            if (!by_ring) full += (number - 1) / letters.items_a_message() + 1;
        }
        EXPECT_EQ(left, all);
        EXPECT_EQ(letters.received(), all);
        EXPECT_EQ(letters.messages(), full);
        EXPECT_TRUE(state().all_true(true));  // the ranks meet before the next exchange
    }

  private:
    Context context_{MPI_COMM_WORLD};
};

TEST_P(SparseExchangeTest, ends_when_no_rank_sends) {
    exchange([](int, int) { return std::uint64_t{0}; }, 4_KiB);
}

TEST_P(SparseExchangeTest, letters_reach_ranks_that_do_not_know_of_them) {
    exchange([](int from, int to) { return static_cast<std::uint64_t>(from == 0 && to % 2 == 1 ? 3 : 0); }, 4_KiB);
}

TEST_P(SparseExchangeTest, full_packets_go_on_while_others_send) {
    exchange([](int from, int to) { return static_cast<std::uint64_t>(500 * (1 + from % 8) + to); }, 16_KiB);
}

TEST_P(SparseExchangeTest, one_item_a_packet_is_enough_memory) {
    exchange([](int from, int to) { return static_cast<std::uint64_t>(10 + from + to); }, Bytes{1});
}

TEST_P(SparseExchangeTest, many_follow_each_other) {
    for (int round = 0; round < 20; ++round)
        exchange([round](int from, int to) { return static_cast<std::uint64_t>((from * 7 + to * 3 + round) % 5); },
                 4_KiB);
}

TEST_P(SparseExchangeTest, packets_are_full_to_a_single_target) {
    auto const ranks = static_cast<std::uint64_t>(state().size());
    std::uint64_t const next = (static_cast<std::uint64_t>(state().rank()) + 1) % ranks;
    for (Bytes const bytes : {1_KiB, 400_KiB})
        exchange_in_turns(50, bytes, [next](auto& targets) { std::ranges::fill(targets, next); });
}

/// More targets than there are places for packets (eight with so little memory), in each order.
TEST_P(SparseExchangeTest, packets_are_full_but_for_the_last_to_each_rank) {
    for (Bytes const bytes : {1_KiB, 16_KiB, 400_KiB}) {
        exchange_in_turns(50, bytes, [](auto&) {});
        exchange_in_turns(50, bytes, [](auto& targets) { std::sort(targets.begin(), targets.end()); });
        exchange_in_turns(50, bytes, [](auto& targets) { std::sort(targets.rbegin(), targets.rend()); });
        exchange_in_turns(50, bytes, [](auto& targets) {
            std::shuffle(targets.begin(), targets.end(), std::mt19937(static_cast<unsigned>(targets.size())));
        });
    }
}

INSTANTIATE_TEST_SUITE_P(Ways, SparseExchangeTest, testing::Values(Way::messages, Way::rings),
                         [](auto const& each) { return each.param == Way::messages ? "messages" : "rings"; });

}  // namespace
}  // namespace sluice::engine
