// SPDX-License-Identifier: BSD-3-Clause
/// Random counts and datatypes, spelled differently on the two sides of each pair, compared with an exchange out of
/// place by MPI_Pack and MPI_Unpack. All bytes are compared, so a write into a gap is seen.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "collectives/inplace_bed.hpp"
#include "support/effort.hpp"
#include "support/random_type.hpp"

namespace sluice::tests {
namespace {

using collectives::InplaceBlocks;

/// One rank's block for one peer: a type of its own, and the number of elements that the pair's bytes need.
struct Side {
    DrawnType type;
    std::int64_t count = 0;
    std::unique_ptr<TypedBlock> block;
};

/// Draws a type and a count that have this number of bytes, a multiple of 48.
Side draw_side(std::mt19937_64& random, std::int64_t bytes) {
    Side side;
    // A drawn type fits if its size divides the bytes; otherwise the type is one of bytes with gaps.
    for (int attempt = 0; attempt < 8; ++attempt) {
        side.type = draw_type(random, 1 + attempt % 3);
        std::int64_t const size = side.type.size();
        auto const [low, high] = side.type.bounds(1);
        if (size == 0 || bytes % size != 0 || side.type.extent() < high - low || high - low > 60 * size) continue;
        side.count = bytes / size;
        side.block = std::make_unique<TypedBlock>(side.type, side.count);
        return side;
    }
    MPI_Datatype spaced = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(MPI_SHORT, 0, 5, &spaced);
    MPI_Type_commit(&spaced);
    side.type = DrawnType(spaced, true, "resized(0 5, short)");
    side.count = bytes / 2;
    side.block = std::make_unique<TypedBlock>(side.type, side.count);
    return side;
}

std::vector<unsigned char> packed(Side& side, std::int64_t bytes) {
    std::vector<unsigned char> data(static_cast<std::size_t>(bytes) + 1);
    int position = 0;
    MPI_Pack(side.block->buffer(), static_cast<int>(side.count), side.type.get(), data.data(),
             static_cast<int>(data.size()), &position, MPI_COMM_WORLD);
    data.resize(static_cast<std::size_t>(position));
    return data;
}

/// Draws the bytes of a pair, which are the same on both sides: also large blocks, and none.
std::int64_t draw_bytes(std::uint64_t seed, int a, int b) {
    std::mt19937_64 random(seed * 1009 + static_cast<std::uint64_t>(std::min(a, b)) * 64 +
                           static_cast<std::uint64_t>(std::max(a, b)));
    random.discard(8);
    switch (random() % 4) {
        case 0:
            return 0;
        case 1:
            return static_cast<std::int64_t>(random() % 40) * 48;
        case 2:
            return static_cast<std::int64_t>(random() % 400) * 48;
        default:
            return static_cast<std::int64_t>(random() % 3000) * 48;
    }
}

void exchange_random(InplaceBed& bed, std::uint64_t seed) {
    int const rank = bed.rank();
    int const size = bed.size();
    std::mt19937_64 random(seed * 7919 + static_cast<std::uint64_t>(rank));
    std::vector<Side> sides;
    std::vector<std::vector<unsigned char>> outgoing;
    std::vector<std::vector<unsigned char>> incoming;
    std::string text = "seed " + std::to_string(seed);
    for (int peer = 0; peer < size; ++peer) {
        std::int64_t const bytes = draw_bytes(seed, rank, peer);
        sides.push_back(draw_side(random, bytes));
        sides.back().block->fill(random());
        outgoing.push_back(packed(sides.back(), bytes));
        incoming.emplace_back(outgoing.back().size());
        text += "\n  for rank " + std::to_string(peer) + ": " + std::to_string(sides.back().count) + " x " +
                sides.back().type.text();
    }
    SCOPED_TRACE(text.substr(0, 4000));

    // The reference is what each peer packed, unpacked into a copy of our blocks.
    std::vector<MPI_Request> requests;
    for (int peer = 0; peer < size; ++peer) {
        auto const p = static_cast<std::size_t>(peer);
        requests.resize(requests.size() + 2);
        MPI_Irecv(incoming[p].data(), static_cast<int>(incoming[p].size()), MPI_BYTE, peer, 1, MPI_COMM_WORLD,
                  &requests[requests.size() - 2]);
        MPI_Isend(outgoing[p].data(), static_cast<int>(outgoing[p].size()), MPI_BYTE, peer, 1, MPI_COMM_WORLD,
                  &requests[requests.size() - 1]);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);

    std::vector<int> counts;
    std::vector<std::int64_t> places;  // they count from MPI_BOTTOM, so they may have any sign
    std::vector<MPI_Datatype> types;
    std::vector<std::vector<unsigned char>> expected;
    for (int peer = 0; peer < size; ++peer) {
        auto const p = static_cast<std::size_t>(peer);
        counts.push_back(static_cast<int>(sides[p].count));
        MPI_Aint address = 0;
        MPI_Get_address(sides[p].block->buffer(), &address);
        places.push_back(address);
        types.push_back(sides[p].type.get());
        std::vector<unsigned char> const before = sides[p].block->bytes();
        if (peer != rank && !incoming[p].empty()) {
            int position = 0;
            MPI_Unpack(incoming[p].data(), static_cast<int>(incoming[p].size()), &position, sides[p].block->buffer(),
                       counts.back(), types.back(), MPI_COMM_WORLD);
        }
        expected.push_back(sides[p].block->bytes());
        sides[p].block->bytes() = before;
        MPI_Get_address(sides[p].block->buffer(), &address);
        places.back() = address;
    }
    ASSERT_EQ(bed.run(InplaceBlocks::alltoallw(MPI_BOTTOM, counts.data(), places.data(), types.data())), MPI_SUCCESS);
    for (int peer = 0; peer < size; ++peer) {
        auto const p = static_cast<std::size_t>(peer);
        ASSERT_TRUE(sides[p].block->bytes() == expected[p]) << "the block for rank " << peer;
    }
}

TEST(InplaceRandomTypes, arrive_byte_for_byte_and_gaps_stay) {
    InplaceBed direct(true);
    InplaceBed messages(false, 64_KiB);
    int const cases = effort(60);
    for (int seed = 0; seed < cases; ++seed) {
        exchange_random(seed % 2 == 0 ? direct : messages, static_cast<std::uint64_t>(seed));
        int failed = testing::Test::HasFailure() ? 1 : 0;
        MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (failed != 0) return;
    }
}

TEST(InplaceRandomTypes, one_type_for_all_blocks_with_a_gap_is_stepped_by_its_extent) {
    InplaceBed bed;
    // The type has three of four ints; the exchange must not touch the fourth.
    MPI_Datatype triple = MPI_DATATYPE_NULL;
    MPI_Datatype spaced = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(3, MPI_INT, &triple);
    MPI_Type_create_resized(triple, 0, 4 * sizeof(int), &spaced);
    MPI_Type_commit(&spaced);
    for (int const count : {1, 50, 5000}) {
        auto const per_block = static_cast<std::size_t>(count) * 4;
        std::vector<int> memory(per_block * static_cast<std::size_t>(bed.size()));
        std::vector<int> expected(memory.size());
        for (std::size_t i = 0; i < memory.size(); ++i) {
            int const peer = static_cast<int>(i / per_block);
            int const place = static_cast<int>(i % per_block);
            bool const gap = place % 4 == 3;
            memory[i] = bed.rank() * 1'000'000 + peer * 100'000 + place;
            expected[i] = gap ? memory[i] : peer * 1'000'000 + bed.rank() * 100'000 + place;
        }
        EXPECT_EQ(bed.run(InplaceBlocks::alltoall(memory.data(), count, spaced)), MPI_SUCCESS);
        EXPECT_TRUE(memory == expected) << count;
    }
    MPI_Type_free(&triple);
    MPI_Type_free(&spaced);
}

}  // namespace
}  // namespace sluice::tests
