// SPDX-License-Identifier: BSD-3-Clause
/// Sizes that an int cannot hold: an array of more than 2^31 bytes, and blocks of more than 2^31 bytes.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "sluice/redistribute.hpp"

namespace sluice::tests {

namespace {

constexpr std::uint64_t k_2_31 = std::uint64_t{1} << 31;

/// Returns the memory that is available, as the kernel estimates it; 0 if it gives no estimate.
std::uint64_t available_bytes() {
    std::ifstream info("/proc/meminfo");
    std::string name;
    for (std::uint64_t kilobytes = 0; info >> name >> kilobytes;
         info.ignore(std::numeric_limits<std::streamsize>::max(), '\n'))
        if (name == "MemAvailable:") return kilobytes * 1024;
    return 0;
}

class Large : public testing::Test {
  protected:
    Large() {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        std::uint64_t const available = available_bytes();
        MPI_Allreduce(&available, &available_, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    }

    /// Returns a word that tells where it was at the start.
    static std::uint64_t word(int rank, std::uint64_t at) {
        return (static_cast<std::uint64_t>(rank) << 56) ^ (at * 0x9e3779b97f4a7c15ULL);
    }

    int rank_ = 0;
    std::uint64_t available_ = 0;
};

}  // namespace

TEST_F(Large, array_of_more_than_2_31_bytes_changes_places_with_a_small_one) {
    constexpr std::uint64_t k_block = 1 << 20;
    std::uint64_t const count = rank_ == 0 ? k_2_31 / k_block + 100 : 100;
    if (available_ < 2 * k_2_31) GTEST_SKIP() << "needs 4 GiB of free memory, there are " << available_ << " bytes";
    constexpr std::uint64_t k_words = k_block / 8;
    std::vector<std::uint64_t> array(count * k_words);
    for (std::uint64_t i = 0; i < array.size(); ++i)
        array[i] = word(rank_, i);
    // The last 100 blocks of rank 0 change places with those of rank 1; all others of rank 0 move by one.
    std::vector<Destination> map;
    std::uint64_t const stay = count - 100;
    for (std::uint64_t i = 0; i < count; ++i) {
        if (rank_ == 1)
            map.push_back({0, static_cast<std::int64_t>(k_2_31 / k_block + i)});
        else if (i >= stay)
            map.push_back({1, static_cast<std::int64_t>(i - stay)});
        else
            map.push_back({0, static_cast<std::int64_t>((i + 1) % stay)});
    }
    Context context(MPI_COMM_WORLD, Settings{});
    redistribute(context, {array.data(), count, {k_block}}, map);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < array.size(); ++i) {
        std::uint64_t const slot = i / k_words;
        int const source = rank_ == 1 || slot >= stay ? 1 - rank_ : 0;
        std::uint64_t const source_slot = rank_ == 1     ? slot + k_2_31 / k_block
                                          : slot >= stay ? slot - stay
                                                         : (slot + stay - 1) % stay;
        if (array[i] != word(source, source_slot * k_words + i % k_words)) ++wrong;
    }
    EXPECT_EQ(wrong, 0U) << "words of " << array.size();
}

TEST_F(Large, block_of_more_than_2_31_bytes_changes_places_with_another) {
    constexpr std::uint64_t k_block = k_2_31 + 4096 + 8;
    if (available_ < 5 * k_2_31 / 2) GTEST_SKIP() << "needs 5 GiB of free memory, there are " << available_ << " bytes";
    std::vector<std::uint64_t> array(k_block / 8);
    for (std::uint64_t i = 0; i < array.size(); ++i)
        array[i] = word(rank_, i);
    std::vector<Destination> const map{{1 - rank_, 0}};
    Context context(MPI_COMM_WORLD, Settings{});
    RedistributionReport const report = redistribute(context, {array.data(), 1, {k_block}}, map);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < array.size(); ++i)
        if (array[i] != word(1 - rank_, i)) ++wrong;
    EXPECT_EQ(wrong, 0U) << "words of " << array.size();
    EXPECT_LT(report.extra_peak, 4_MiB);  // less than the block
}

}  // namespace sluice::tests
