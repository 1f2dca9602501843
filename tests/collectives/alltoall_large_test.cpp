// SPDX-License-Identifier: BSD-3-Clause
/// A block of more bytes than an int can count, in little memory: both buffers are one piece of memory that is mapped
/// again and again, so its bytes repeat with a period that divides no round number.
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "collectives/inplace_bed.hpp"
#include "sluice/alltoall.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {
namespace {

class RepeatedMemory {
  public:
    static constexpr std::size_t k_period = (1 << 20) + (4 << 10);

    explicit RepeatedMemory(std::size_t bytes) : bytes_((bytes + k_period - 1) / k_period * k_period) {
        int const file = memfd_create("repeated", MFD_CLOEXEC);
        if (file < 0 || ftruncate(file, k_period) != 0) return;
        void* const range = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (range == MAP_FAILED) return;
        data_ = static_cast<unsigned char*>(range);
        is_whole_ = true;
        for (std::size_t at = 0; at < bytes_; at += k_period)
            is_whole_ = is_whole_ && mmap(data_ + at, k_period, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                                          0) != MAP_FAILED;
        close(file);
    }
    RepeatedMemory(RepeatedMemory const&) = delete;
    RepeatedMemory& operator=(RepeatedMemory const&) = delete;
    ~RepeatedMemory() {
        if (data_ != nullptr) munmap(data_, bytes_);
    }
    bool is_whole() const { return is_whole_; }
    unsigned char* data() const { return data_; }

  private:
    std::size_t bytes_;
    unsigned char* data_ = nullptr;
    bool is_whole_ = false;
};

constexpr std::int64_t k_bytes = (std::int64_t{1} << 31) + 4097;

/// Rank 0 sends one block to rank 1.
template <typename Exchange>
void send_large(Context const& context, Exchange const& exchange) {
    RepeatedMemory const from(static_cast<std::size_t>(k_bytes));
    RepeatedMemory const to(static_cast<std::size_t>(k_bytes));
    ASSERT_TRUE(from.is_whole() && to.is_whole());
    for (std::size_t i = 0; i < RepeatedMemory::k_period; ++i)
        from.data()[i] = byte_of(context.rank(), 1, i);
    std::vector<std::int64_t> out(static_cast<std::size_t>(context.size()));
    std::vector<std::int64_t> in(out.size());
    std::vector<std::int64_t> const places(out.size());
    if (context.rank() == 0) out[1] = k_bytes;
    if (context.rank() == 1) in[0] = k_bytes;
    AlltoallOutcome const outcome = exchange(from.data(), out, to.data(), in, places);
    EXPECT_NE(outcome.algorithm, AlltoallAlgorithm::plain);
    EXPECT_EQ(outcome.received.count, context.rank() == 1 ? static_cast<std::uint64_t>(k_bytes) : 0);
    if (context.rank() != 1) return;
    for (std::size_t i = 0; i < RepeatedMemory::k_period; ++i)
        ASSERT_EQ(to.data()[i], byte_of(0, 1, i)) << i;
}

SLUICE_NEEDS_RANKS(2, AlltoallLarge, block_comes_whole_by_a_message_and_by_reads);
TEST(AlltoallLarge, block_comes_whole_by_a_message_and_by_reads) {
    Context context(MPI_COMM_WORLD, Settings{});
    for (AlltoallAlgorithm const algorithm : {AlltoallAlgorithm::window, AlltoallAlgorithm::pull}) {
        AlltoallOptions options;
        options.algorithm = algorithm;
        send_large(context, [&](void const* from, auto const& out, void* to, auto const& in, auto const& places) {
            return alltoallv(context, from, out, places, MPI_BYTE, to, in, places, MPI_BYTE, options);
        });
    }
}

SLUICE_NEEDS_RANKS(2, AlltoallLarge, block_of_one_rank_keeps_all_from_the_plain_call);
TEST(AlltoallLarge, block_of_one_rank_keeps_all_from_the_plain_call) {
    Context context(MPI_COMM_WORLD, Settings{});
    AlltoallOptions options;
    options.algorithm = AlltoallAlgorithm::plain;
    send_large(context, [&](void const* from, auto const& out, void* to, auto const& in, auto const& places) {
        return AlltoallPlan(context, out, places, MPI_BYTE, in, places, MPI_BYTE, options).apply(from, to);
    });
}

}  // namespace
}  // namespace sluice::tests
