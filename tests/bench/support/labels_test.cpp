// SPDX-License-Identifier: BSD-3-Clause
#include "support/labels.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace sluice::bench {
namespace {

/// All arrays of a case in one process; blocks are moved by plain copies.
class Labels : public testing::TestWithParam<std::uint64_t> {
  protected:
    static constexpr int k_ranks = 3;
    std::unique_ptr<Case> map_ = make_case("transpose", k_ranks, 20);
    std::vector<std::vector<std::byte>> before_{k_ranks};
    std::vector<std::vector<std::byte>> after_{k_ranks};

    Blocks blocks(std::vector<std::byte>& bytes) const {
        return {bytes.data(), bytes.size() / GetParam(), {GetParam()}};
    }

    void SetUp() override {
        std::uint64_t const bytes = GetParam();
        for (int rank = 0; rank < k_ranks; ++rank) {
            auto const r = static_cast<std::size_t>(rank);
            before_[r].resize(map_->slots(rank) * bytes);
            write_labels(blocks(before_[r]), rank);
        }
        after_ = before_;  // free slots keep their stale blocks, which must not be counted
        for (int rank = 0; rank < k_ranks; ++rank)
            for (std::uint64_t index = 0; index < map_->slots(rank); ++index) {
                Destination const to = map_->destination(rank, index);
                if (to.rank < 0) continue;
                std::memcpy(
                    after_[static_cast<std::size_t>(to.rank)].data() + static_cast<std::uint64_t>(to.index) * bytes,
                    before_[static_cast<std::size_t>(rank)].data() + index * bytes, bytes);
            }
    }

    std::uint64_t arrived() {
        std::uint64_t sum = 0;
        for (int rank = 0; rank < k_ranks; ++rank)
            sum += count_arrived(blocks(after_[static_cast<std::size_t>(rank)]), rank, k_ranks, *map_);
        return sum;
    }
    std::uint64_t live() const {
        std::uint64_t sum = 0;
        for (int rank = 0; rank < k_ranks; ++rank)
            sum += count_live(*map_, rank);
        return sum;
    }
};

TEST_P(Labels, count_every_live_block_that_is_in_its_place) {
    EXPECT_EQ(arrived(), live());
}

TEST_P(Labels, notice_one_wrong_byte_anywhere_in_a_block) {
    for (std::uint64_t at = 0; at < GetParam(); ++at) {
        std::byte& byte = after_[1][5 * GetParam() + at];
        byte ^= std::byte{0x40};
        EXPECT_EQ(arrived(), live() - 1) << "byte " << at;
        byte ^= std::byte{0x40};
    }
}

TEST_P(Labels, notice_two_blocks_that_changed_places) {
    std::vector<std::byte> const first(after_[0].begin(), after_[0].begin() + static_cast<std::ptrdiff_t>(GetParam()));
    std::memcpy(after_[0].data(), after_[0].data() + GetParam(), GetParam());
    std::memcpy(after_[0].data() + GetParam(), first.data(), GetParam());
    EXPECT_EQ(arrived(), live() - 2);
}

INSTANTIATE_TEST_SUITE_P(BlockBytes, Labels, testing::Values(8, 9, 15, 64, 1000));

}  // namespace
}  // namespace sluice::bench
