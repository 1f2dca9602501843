// SPDX-License-Identifier: BSD-3-Clause
#include "node/node_rings.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "mpi/mpi.hpp"
#include "sluice/error.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::engine {
namespace {

/// The i-th packet that rank `from` sends to rank `to`, which both sides can compute.
struct Expected {
    std::size_t bytes;
    std::byte fill;
};
Expected expected(int from, int to, int i, std::size_t most) {
    std::mt19937 random(static_cast<unsigned>(from * 1000003 + to * 10007 + i));
    std::size_t const bytes = random() % (most + 1);
    return {bytes, static_cast<std::byte>(random())};
}

/// Every rank sends `packets` packets of random sizes to every other rank and checks the packets that arrive, in order.
void exchange_all(node::NodeRings& rings, int packets) {
    auto const n = static_cast<std::size_t>(rings.size());
    std::vector<int> sent(n, 0);
    std::vector<int> received(n, 0);
    std::size_t const most = rings.largest_body();
    for (;;) {
        bool moved = false;
        bool done = true;
        for (int peer = 0; peer < rings.size(); ++peer) {
            auto const p = static_cast<std::size_t>(peer);
            if (peer == rings.rank()) continue;
            if (sent[p] < packets) {
                Expected const next = expected(rings.rank(), peer, sent[p], most);
                if (std::byte* const body = rings.reserve(peer, next.bytes)) {
                    std::memset(body, static_cast<int>(next.fill), next.bytes);
                    rings.commit(peer, 5, static_cast<std::uint32_t>(sent[p]), 9, next.bytes);
                    ++sent[p];
                    moved = true;
                }
            }
            if (node::Packet const packet = rings.peek(peer)) {
                Expected const next = expected(peer, rings.rank(), received[p], most);
                ASSERT_EQ(packet.kind, 5U);
                ASSERT_EQ(packet.count, static_cast<std::uint32_t>(received[p]));
                ASSERT_EQ(packet.pass, 9U);
                ASSERT_EQ(packet.body.size(), next.bytes);
                for (std::byte const byte : packet.body)
                    ASSERT_EQ(byte, next.fill);
                rings.pop(peer);
                ++received[p];
                moved = true;
            }
            done = done && sent[p] == packets && received[p] == packets;
        }
        if (done) return;
        if (!moved) {
            std::uint32_t const ticket = rings.prepare_to_sleep();
            rings.sleep(ticket);
        }
    }
}

TEST(NodeRings, packets_of_any_size_arrive_whole_and_in_order_through_the_smallest_ring) {
    node::NodeRings rings(MPI_COMM_WORLD, 1_B);
    EXPECT_EQ(rings.ring_bytes(), 1024U);
    exchange_all(rings, 2000);
}

TEST(NodeRings, packets_of_any_size_arrive_whole_and_in_order_through_a_large_ring) {
    node::NodeRings rings(MPI_COMM_WORLD, 256_KiB);
    exchange_all(rings, 50);
}

SLUICE_NEEDS_RANKS(2, NodeRings, a_packet_that_fits_is_always_granted_in_the_end);
TEST(NodeRings, a_packet_that_fits_is_always_granted_in_the_end) {
    node::NodeRings rings(MPI_COMM_WORLD, 4_KiB);
    int const next = (rings.rank() + 1) % rings.size();
    int const previous = (rings.rank() + rings.size() - 1) % rings.size();
    // Leaves the write position at every offset in turn, then reserves the largest packet on the empty ring.
    for (std::size_t step = 0; step < rings.ring_bytes(); step += 8) {
        for (std::size_t const bytes : {std::size_t{8}, rings.largest_body()}) {
            ASSERT_GE(rings.room(next), bytes);
            ASSERT_NE(rings.reserve(next, bytes), nullptr);
            rings.commit(next, 1, 0, 0, bytes);
            rings.barrier();
            ASSERT_EQ(rings.peek(previous).body.size(), bytes);
            rings.pop(previous);
            rings.barrier();
        }
    }
}

SLUICE_NEEDS_RANKS(2, NodeRings, a_full_ring_refuses_and_what_was_refused_changes_nothing);
TEST(NodeRings, a_full_ring_refuses_and_what_was_refused_changes_nothing) {
    node::NodeRings rings(MPI_COMM_WORLD, 1_B);
    int const next = (rings.rank() + 1) % rings.size();
    int const previous = (rings.rank() + rings.size() - 1) % rings.size();
    std::uint32_t written = 0;
    while (std::byte* const body = rings.reserve(next, 40)) {
        std::memset(body, static_cast<int>(written), 40);
        rings.commit(next, 1, written++, 0, 40);
    }
    EXPECT_EQ(written, rings.ring_bytes() / 64);
    rings.barrier();
    for (std::uint32_t i = 0; i < written; ++i) {
        node::Packet const packet = rings.peek(previous);
        ASSERT_TRUE(packet);
        EXPECT_EQ(packet.count, i);
        EXPECT_EQ(packet.body[39], static_cast<std::byte>(i));
        rings.pop(previous);
    }
    EXPECT_FALSE(rings.peek(previous));
    rings.barrier();
}

SLUICE_NEEDS_RANKS(2, NodeRings, whoever_sleeps_is_woken_by_a_packet);
TEST(NodeRings, whoever_sleeps_is_woken_by_a_packet) {
    node::NodeRings rings(MPI_COMM_WORLD, 4_KiB);
    // A token goes round, and all ranks but its owner sleep. A lost wake-up would cost a millisecond, a lost packet
    // would hang.
    int const next = (rings.rank() + 1) % rings.size();
    int const previous = (rings.rank() + rings.size() - 1) % rings.size();
    for (std::uint32_t round = 0; round < 200; ++round) {
        if (rings.rank() == 0) {
            ASSERT_NE(rings.reserve(next, 0), nullptr);
            rings.commit(next, 1, round, 0, 0);
        }
        while (!rings.peek(previous)) {
            std::uint32_t const ticket = rings.prepare_to_sleep();
            if (rings.peek(previous))
                rings.cancel_sleep();
            else
                rings.sleep(ticket);
        }
        EXPECT_EQ(rings.peek(previous).count, round);
        rings.pop(previous);
        if (rings.rank() != 0) {
            ASSERT_NE(rings.reserve(next, 0), nullptr);
            rings.commit(next, 1, round, 0, 0);
        }
    }
    rings.barrier();
}

}  // namespace
}  // namespace sluice::engine
