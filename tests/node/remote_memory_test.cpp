// SPDX-License-Identifier: BSD-3-Clause
/// Whose memory may be touched: proofs, refusals, and how long they are remembered.
#include "node/remote_memory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <thread>
#include <vector>

#include "fault/failing_reads.hpp"
#include "twin.hpp"

namespace sluice::node {
namespace {

using tests::fail_reads;
using tests::reads_made;
using tests::Twin;

class RemoteMemoryOfTwin : public testing::Test {
  protected:
    void SetUp() override {
        if (!RemoteMemory(true).reach(0, twin_.card(door_), Touch::write))
            GTEST_SKIP() << "the kernel forbids access to other processes";
    }
    ~RemoteMemoryOfTwin() override { fail_reads(0, 0); }

    /// Reaches the peer, and returns how many calls of the kernel that took.
    std::uint64_t calls_to_reach(int peer, AccessCard const& card, Touch touch, bool expected) {
        std::uint64_t const before = reads_made();
        EXPECT_EQ(static_cast<bool>(door_.reach(peer, card, touch)), expected) << "peer " << peer;
        return reads_made() - before;
    }
    /// The twin's word as it is now, by a door that is not tested.
    std::uint64_t word_of_twin() {
        std::uint64_t seen = 0;
        RemoteMemory other(true);
        Remote const place =
            other.reach(0, twin_.card(door_), Touch::read).at(reinterpret_cast<std::uintptr_t>(&word_));
        EXPECT_EQ(place.read(std::as_writable_bytes(std::span(&seen, 1))), sizeof seen);
        return seen;
    }

    std::uint64_t word_ = 4711;
    RemoteMemory door_{true};
    Twin twin_;  // has copies of the members before it
};

TEST_F(RemoteMemoryOfTwin, is_reached_by_reading_its_nonce_and_writing_it_back_once) {
    AccessCard const card = twin_.card(door_);
    EXPECT_TRUE(door_.may_reach(3));
    EXPECT_TRUE(door_.shares_node(card));
    EXPECT_FALSE(door_.has_reached(3));
    EXPECT_EQ(calls_to_reach(3, card, Touch::write, true), 2U);
    EXPECT_TRUE(door_.has_reached(3));
    EXPECT_EQ(calls_to_reach(3, card, Touch::write, true), 0U);
    EXPECT_EQ(calls_to_reach(3, card, Touch::read, true), 0U);
    EXPECT_EQ(calls_to_reach(4, card, Touch::write, true), 2U) << "another peer";
}

TEST_F(RemoteMemoryOfTwin, reached_for_reading_is_not_written_and_is_proven_again_for_writing) {
    AccessCard const card = twin_.card(door_);
    EXPECT_EQ(calls_to_reach(3, card, Touch::read, true), 1U);
    EXPECT_FALSE(door_.has_reached(3));
    Remote const place = door_.reach(3, card, Touch::read).at(reinterpret_cast<std::uintptr_t>(&word_));
    std::uint64_t other = 1;
    std::uint64_t bounce = 0;
    std::uint64_t const before = reads_made();
    EXPECT_EQ(place.write(std::as_bytes(std::span(&other, 1))), 0U);
    EXPECT_EQ(place.swap(std::as_writable_bytes(std::span(&other, 1)), std::as_writable_bytes(std::span(&bounce, 1))),
              0U);
    EXPECT_EQ(reads_made(), before);
    EXPECT_EQ(other, 1U);
    EXPECT_EQ(word_of_twin(), 4711U);
    EXPECT_EQ(calls_to_reach(3, card, Touch::write, true), 2U);
    EXPECT_TRUE(door_.has_reached(3));
}

TEST_F(RemoteMemoryOfTwin, with_another_nonce_is_a_foreign_process_and_never_written) {
    AccessCard card = twin_.card(door_);
    card.nonce ^= 1;
    EXPECT_EQ(calls_to_reach(3, card, Touch::write, false), 1U) << "one word is read, and nothing is written";
    EXPECT_FALSE(door_.may_reach(3));
    Remote const nowhere = door_.reach(3, card, Touch::write).at(reinterpret_cast<std::uintptr_t>(&word_));
    std::uint64_t const other = 1;
    EXPECT_EQ(nowhere.write(std::as_bytes(std::span(&other, 1))), 0U);
    EXPECT_EQ(word_of_twin(), 4711U);
}

TEST_F(RemoteMemoryOfTwin, that_was_refused_stays_refused_with_a_right_card) {
    AccessCard const right = twin_.card(door_);
    AccessCard wrong = right;
    wrong.nonce ^= 1;
    EXPECT_EQ(calls_to_reach(3, wrong, Touch::read, false), 1U);
    EXPECT_EQ(calls_to_reach(3, right, Touch::write, false), 0U);
    EXPECT_EQ(calls_to_reach(4, right, Touch::write, true), 2U);
    door_.refuse(4);
    EXPECT_FALSE(door_.may_reach(4));
    EXPECT_FALSE(door_.has_reached(4));
    EXPECT_EQ(calls_to_reach(4, right, Touch::read, false), 0U);
    EXPECT_TRUE(door_.may_reach(5)) << "the refusal is that of one peer";
}

TEST_F(RemoteMemoryOfTwin, is_proven_again_if_the_peer_comes_with_another_card) {
    EXPECT_EQ(calls_to_reach(3, twin_.card(door_), Touch::write, true), 2U);
    Twin const other;
    EXPECT_EQ(calls_to_reach(3, other.card(door_), Touch::write, true), 2U) << "the same nonce in another process";
    AccessCard foreign = other.card(door_);
    foreign.nonce ^= 1;
    EXPECT_EQ(calls_to_reach(3, foreign, Touch::write, false), 1U);
}

TEST_F(RemoteMemoryOfTwin, that_is_gone_is_refused) {
    AccessCard card;
    {
        Twin const gone;
        card = gone.card(door_);
    }
    EXPECT_EQ(calls_to_reach(3, card, Touch::write, false), 1U);
    EXPECT_FALSE(door_.may_reach(3));
}

TEST_F(RemoteMemoryOfTwin, that_the_kernel_lets_read_only_is_refused_for_writing) {
    AccessCard const card = twin_.card(door_);
    fail_reads(1, EPERM);
    EXPECT_EQ(calls_to_reach(3, card, Touch::write, false), 2U);
    fail_reads(1, EPERM);
    EXPECT_EQ(calls_to_reach(4, card, Touch::read, true), 1U);
}

TEST_F(RemoteMemoryOfTwin, is_remembered_for_so_many_peers_and_proven_again_for_others) {
    AccessCard const card = twin_.card(door_);
    constexpr int k_remembered = RemoteMemory::k_remembered;
    constexpr int k_more = 10;
    for (int peer = 0; peer < k_remembered + k_more; ++peer)
        EXPECT_EQ(calls_to_reach(peer, card, Touch::write, true), 2U) << peer;
    for (int peer = k_more; peer < k_remembered + k_more; ++peer)
        EXPECT_EQ(calls_to_reach(peer, card, Touch::write, true), 0U) << peer;
    for (int peer = 0; peer < k_more; ++peer) {
        EXPECT_FALSE(door_.has_reached(peer)) << peer;
        EXPECT_EQ(calls_to_reach(peer, card, Touch::write, true), 2U) << peer;
    }
    door_.refuse(0);
    EXPECT_EQ(calls_to_reach(k_remembered, card, Touch::write, true), 2U);
    EXPECT_TRUE(door_.may_reach(0)) << "the refusal is forgotten, so the next proof decides";
    EXPECT_EQ(calls_to_reach(0, card, Touch::write, true), 2U);
}

TEST_F(RemoteMemoryOfTwin, is_refused_and_not_touched_if_the_card_has_a_key_of_another_way) {
    AccessCard card = twin_.card(door_);
    EXPECT_EQ(card.key, 0U);
    EXPECT_EQ(calls_to_reach(3, card, Touch::write, true), 2U);
    card.key = 7;
    EXPECT_TRUE(door_.shares_node(card)) << "both sides of a pair must say the same";
    EXPECT_EQ(calls_to_reach(3, card, Touch::write, false), 0U) << "although its process was reached";
    EXPECT_EQ(calls_to_reach(4, card, Touch::read, false), 0U);
    EXPECT_FALSE(door_.may_reach(4));
}

TEST_F(RemoteMemoryOfTwin, is_refused_and_not_touched_if_the_card_is_of_another_machine_or_of_no_process) {
    AccessCard card = twin_.card(door_);
    ++card.node;
    EXPECT_FALSE(door_.shares_node(card));
    EXPECT_EQ(calls_to_reach(1, card, Touch::write, false), 0U);
    card = twin_.card(door_);
    card.pid += std::int64_t{1} << 32;
    EXPECT_EQ(calls_to_reach(2, card, Touch::write, false), 0U) << "a number that is cut off";
    card.pid = -1;
    EXPECT_EQ(calls_to_reach(3, card, Touch::write, false), 0U);
    EXPECT_EQ(calls_to_reach(4, AccessCard{}, Touch::write, false), 0U);
}

TEST_F(RemoteMemoryOfTwin, stays_refused_whatever_other_threads_prove_meanwhile) {
    AccessCard const card = twin_.card(door_);
    for (int peer = 0; peer < 50; ++peer) {
        std::atomic<bool> is_refused = false;
        std::atomic<int> reached_after = 0;
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; ++i)
            threads.emplace_back([&] {
                for (bool last = false; !last;) {
                    last = is_refused;
                    if (door_.reach(peer, card, Touch::write) && last) ++reached_after;
                }
            });
        door_.refuse(peer);
        is_refused = true;
        for (std::thread& thread : threads)
            thread.join();
        ASSERT_EQ(reached_after, 0) << peer;
        ASSERT_FALSE(door_.may_reach(peer)) << peer;
    }
}

TEST(RemoteMemory, that_is_not_allowed_reaches_nothing_and_gives_an_empty_card) {
    RemoteMemory open(true);
    RemoteMemory closed(false);
    EXPECT_EQ(closed.card().pid, 0);
    EXPECT_FALSE(closed.may_reach(0));
    EXPECT_FALSE(closed.shares_node(open.card()));
    EXPECT_FALSE(open.shares_node(closed.card()));
    std::uint64_t const before = reads_made();
    EXPECT_FALSE(closed.reach(0, open.card(), Touch::read));
    EXPECT_FALSE(open.reach(0, closed.card(), Touch::read));
    EXPECT_FALSE(closed.reach(0, closed.card(), Touch::read));
    EXPECT_EQ(reads_made(), before);
}

}  // namespace
}  // namespace sluice::node
