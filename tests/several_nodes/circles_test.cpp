// SPDX-License-Identifier: BSD-3-Clause
/// Redistribution by rings inside nodes and by messages between them, where ranks may wait for each other in a circle.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sluice/redistribute.hpp"
#include "sluice/settings.hpp"

namespace sluice::tests {
namespace {

class SeveralNodes : public testing::Test {
  protected:
    SeveralNodes() {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    }

    /// Moves `blocks` blocks of every rank by `target(rank, block)` and compares.
    void move(Transport transport, std::uint64_t blocks, std::size_t words,
              std::function<Destination(int, std::uint64_t)> const& target) {
        Settings settings;
        settings.transport = transport;
        settings.staging = 256_KiB;  // small rings
        Context context(MPI_COMM_WORLD, settings);
        std::vector<std::uint64_t> data(blocks * words);
        std::vector<Destination> to(blocks);
        for (std::uint64_t block = 0; block < blocks; ++block) {
            to[block] = target(rank_, block);
            for (std::size_t word = 0; word < words; ++word)
                data[block * words + word] = number(to[block]) + word;
        }
        redistribute(context, {data.data(), blocks, {words * sizeof(std::uint64_t)}}, to);
        for (std::uint64_t block = 0; block < blocks; ++block)
            for (std::size_t word = 0; word < words; ++word)
                ASSERT_EQ(data[block * words + word], number({rank_, static_cast<std::int64_t>(block)}) + word);
    }

    int rank_ = 0;
    int ranks_ = 0;

  private:
    static std::uint64_t number(Destination const& at) {
        return (static_cast<std::uint64_t>(at.rank) << 40) + static_cast<std::uint64_t>(at.index) * 4096;
    }
};

/// Otherwise the tests of this folder would be those of one node again.
TEST_F(SeveralNodes, have_two_ranks_each) {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int ranks_of_node = 0;
    MPI_Comm_size(node, &ranks_of_node);
    MPI_Comm_free(&node);
    EXPECT_EQ(ranks_of_node, rank_ == ranks_ - 1 && ranks_ % 2 == 1 ? 1 : 2);
}

/// A circle: rings and messages in turns. All addresses of a rank go to one other, so each way is full at once.
TEST_F(SeveralNodes, all_to_the_next_rank) {
    for (Transport const transport : {Transport::automatic, Transport::ring, Transport::message})
        for (int const distance : {1, ranks_ - 1})
            move(transport, 40'000, 1, [&](int rank, std::uint64_t block) {
                return Destination{(rank + distance) % ranks_, static_cast<std::int64_t>(block)};
            });
}

TEST_F(SeveralNodes, to_all_ranks) {
    auto const ranks = static_cast<std::uint64_t>(ranks_);
    for (Transport const transport : {Transport::automatic, Transport::ring})
        for (std::size_t const words : {std::size_t{1}, std::size_t{128}})
            move(transport, 2'000 * ranks, words, [&](int rank, std::uint64_t block) {
                auto const to = (static_cast<std::uint64_t>(rank) + block) % ranks;
                return Destination{static_cast<int>(to), static_cast<std::int64_t>(block)};
            });
}

/// The lists are sorted by targets, so a rank sends to those of its node for long, and then to others for long.
TEST_F(SeveralNodes, to_one_rank_after_the_other) {
    auto const ranks = static_cast<std::uint64_t>(ranks_);
    std::uint64_t const each = 20'000;
    move(Transport::automatic, each * ranks, 1, [&](int rank, std::uint64_t block) {
        auto const index = static_cast<std::uint64_t>(rank) * each + block % each;
        return Destination{static_cast<int>(block / each), static_cast<std::int64_t>(index)};
    });
}

}  // namespace
}  // namespace sluice::tests
