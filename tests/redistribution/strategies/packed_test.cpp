// SPDX-License-Identifier: BSD-3-Clause
/// Pack, exchange, unpack without maps: copies that go past the caches, and the check of the indices that arrive. The
/// costs are those built in, and the blocks so small that strategy `auto` packs them.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "sluice/redistribute.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {
namespace {

/// Words from `offset` bytes behind a cache line on, with guard words on both sides.
class Array {
  public:
    Array(std::uint64_t words, std::uint64_t offset)
        : own_(words + 3 * k_line, k_guard),
          first_(k_line - reinterpret_cast<std::uintptr_t>(own_.data()) / 8 % k_line + k_line + offset / 8),
          words_(words) {}
    std::uint64_t* data() { return own_.data() + first_; }
    bool guards_are_whole() const {
        auto const is_guard = [](std::uint64_t word) { return word == k_guard; };
        auto const begin = own_.begin() + static_cast<std::ptrdiff_t>(first_);
        return std::all_of(own_.begin(), begin, is_guard) &&
               std::all_of(begin + static_cast<std::ptrdiff_t>(words_), own_.end(), is_guard);
    }

  private:
    static constexpr std::uint64_t k_line = 8;  // words
    static constexpr std::uint64_t k_guard = 0xa5a5a5a5a5a5a5a5;
    std::vector<std::uint64_t> own_;
    std::uint64_t first_;
    std::uint64_t words_;
};

class PackedBlocks : public testing::Test {
  protected:
    PackedBlocks() : context_(MPI_COMM_WORLD) {}
    std::uint64_t rank() const { return static_cast<std::uint64_t>(context_.rank()); }
    std::uint64_t ranks() const { return static_cast<std::uint64_t>(context_.size()); }
    RedistributionReport move(std::uint64_t* data, std::uint64_t words, std::vector<Destination> const& to) {
        RedistributeOptions const options{.strategy = Strategy::automatic, .staging = {}};
        return redistribute(context_, Blocks{data, to.size(), Bytes{8 * words}}, to, options);
    }

    Context context_;
};

/// Of 16 MiB, so that what is packed, arrives and stays takes more. Parameters: bytes of a block, and of the array's
/// distance from a cache line.
class LargeArrays : public PackedBlocks,
                    public testing::WithParamInterface<std::tuple<std::uint64_t, std::uint64_t>> {};

SLUICE_NEEDS_RANKS(2, LargeArrays, arrive_past_the_caches);
TEST_P(LargeArrays, arrive_past_the_caches) {
    auto const [bytes, offset] = GetParam();
    std::uint64_t const words = bytes / 8;
    std::uint64_t const slots = (std::uint64_t{16} << 20) / bytes;
    Array array(slots * words, offset);
    std::vector<std::uint64_t> order(slots);  // slot i goes to slot order[i] of rank + i
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    std::shuffle(order.begin(), order.end(), std::mt19937_64(7));
    std::vector<Destination> to(slots);
    for (std::uint64_t slot = 0; slot < slots; ++slot) {
        to[slot] = {static_cast<int>((rank() + slot) % ranks()), static_cast<std::int64_t>(order[slot])};
        for (std::uint64_t word = 0; word < words; ++word)
            array.data()[slot * words + word] = (rank() * slots + slot) * words + word;
    }
    RedistributionReport const report = move(array.data(), words, to);
    EXPECT_EQ(report.strategy, Strategy::alltoallv) << report.why;
    EXPECT_TRUE(array.guards_are_whole());
    for (std::uint64_t slot = 0; slot < slots; ++slot) {
        std::uint64_t const source = (rank() + ranks() - slot % ranks()) % ranks();
        for (std::uint64_t word = 0; word < words; ++word)
            ASSERT_EQ(array.data()[order[slot] * words + word], (source * slots + slot) * words + word)
                << "slot " << order[slot];
    }
}

INSTANTIATE_TEST_SUITE_P(OfTwoSizes, LargeArrays,
                         testing::Combine(testing::Values(64U, 128U, 192U, 200U), testing::Values(0U, 8U, 16U)));

/// Maps of blocks that go to the next rank in their order, from slot 5 on, so that runs of bits cross from word to
/// word; one map is changed.
class Faults : public PackedBlocks {
  protected:
    static constexpr std::uint64_t k_slots = 2000;
    static constexpr std::uint64_t k_first = 5;

    Faults() : array_(k_slots), to_(k_slots) {
        std::iota(array_.begin(), array_.end(), rank() * k_slots);
        for (std::uint64_t slot = 0; slot < k_slots; ++slot)
            to_[slot] = {static_cast<int>((rank() + 1) % ranks()),
                         static_cast<std::int64_t>((slot + k_first) % k_slots)};
    }
    /// Without a change the blocks are packed.
    void SetUp() override { EXPECT_EQ(move(array_.data(), 1, to_).strategy, Strategy::alltoallv); }

    void expect_fault(std::function<void(std::vector<Destination>&)> const& change, std::string const& what) {
        std::vector<std::uint64_t> const before = array_;
        std::vector<Destination> to = to_;
        if (rank() == 0) change(to);
        EXPECT_THROW(move(array_.data(), 1, to), Error) << what;
        EXPECT_EQ(array_, before) << what;
    }

    std::vector<std::uint64_t> array_;
    std::vector<Destination> to_;
};

SLUICE_NEEDS_RANKS(2, Faults, of_two_blocks_for_a_slot_are_seen_wherever_runs_begin_and_end);
TEST_F(Faults, of_two_blocks_for_a_slot_are_seen_wherever_runs_begin_and_end) {
    for (std::uint64_t at = 0; at < 150; at += 7)
        for (std::uint64_t const other : {at + 1, at + 8, at + 64, k_slots - 1, (at + k_slots - 8) % k_slots})
            expect_fault([&](std::vector<Destination>& to) { to[at].index = to[other].index; },
                         std::to_string(at) + " as " + std::to_string(other));
    for (std::uint64_t first = 0; first < 140; first += 9)
        for (std::uint64_t const shift : {1U, 8U, 60U, 64U})
            expect_fault(
                [&](std::vector<Destination>& to) {
                    for (std::uint64_t i = first; i < first + 16; ++i)
                        to[i].index += static_cast<std::int64_t>(shift);
                },
                "16 from " + std::to_string(first) + " by " + std::to_string(shift));
}

SLUICE_NEEDS_RANKS(2, Faults, of_slots_behind_the_last_are_seen);
TEST_F(Faults, of_slots_behind_the_last_are_seen) {
    constexpr std::uint64_t k_end = k_slots - k_first;  // the block behind that for the last slot
    for (std::uint64_t first = k_end - 20; first < k_end; ++first)
        expect_fault(
            [&](std::vector<Destination>& to) {
                for (std::uint64_t i = first; i < k_end; ++i)
                    to[i].index += static_cast<std::int64_t>(k_end - first);
            },
            "from " + std::to_string(first));
    for (std::uint64_t const first : {0U, 8U, 64U})  // alone they are a run
        expect_fault(
            [&](std::vector<Destination>& to) {
                for (std::uint64_t i = 0; i < 8; ++i)
                    to[first + i].index = static_cast<std::int64_t>(k_slots + i);
            },
            "8 from " + std::to_string(first));
}

}  // namespace
}  // namespace sluice::tests
