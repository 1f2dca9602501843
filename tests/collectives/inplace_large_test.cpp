// SPDX-License-Identifier: BSD-3-Clause
/// A block of more than 2 GiB: an int cannot hold the number of its bytes.
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/mman.h>

#include "collectives/inplace_bed.hpp"

namespace sluice::tests {
namespace {

TEST(InplaceLarge, blocks_of_more_than_two_gibibytes_change_places) {
    constexpr std::uint64_t k_words = (std::uint64_t{9} << 25) + 3;  // 2.25 GiB and 24 bytes
    constexpr std::uint64_t k_bytes = k_words * 8;
    InplaceBed bed;
    void* const memory =
        mmap(nullptr, k_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto* const words = static_cast<std::uint64_t*>(memory);
    auto const word_of = [](int rank, std::uint64_t i) {
        return (i + 1) * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(rank);
    };
    for (std::uint64_t i = 0; i < k_words; ++i)
        words[i] = word_of(bed.rank(), i);
    int const peer = 1 - bed.rank();
    // A rank's block for itself is empty; only the peer's block exists.
    std::vector<std::int64_t> counts(2, 0);
    std::vector<std::int64_t> const places(2, 0);
    counts[static_cast<std::size_t>(peer)] = static_cast<std::int64_t>(k_words);
    EXPECT_EQ(bed.run(collectives::InplaceBlocks::alltoallv(memory, counts.data(), places.data(), MPI_UINT64_T)),
              MPI_SUCCESS);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < k_words; ++i)
        wrong += words[i] != word_of(peer, i) ? 1 : 0;
    EXPECT_EQ(wrong, 0U);
    EXPECT_EQ(bed.report().exchanged.count, k_bytes);
    munmap(memory, k_bytes);
}

}  // namespace
}  // namespace sluice::tests
