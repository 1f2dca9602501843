// SPDX-License-Identifier: BSD-3-Clause
/// A /dev/shm that becomes full when the rings have their addresses and not yet their pages: the ranks must agree to
/// use messages. A store into a page that cannot be had would end them by SIGBUS. Runs in a /dev/shm of its own
/// (in_small_shm.sh).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sluice/redistribute.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {
namespace {

int world_rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

/// Leaves `bytes` of /dev/shm, which is at most 64 MiB large.
class FullSharedMemory {
  public:
    explicit FullSharedMemory(off_t bytes) : file_(open("/dev/shm", O_TMPFILE | O_RDWR, 0600)) {
        off_t filled = 0;
        for (off_t step = 1 << 20; step >= 4096; step /= 2)
            while (filled < (64 << 20) && posix_fallocate(file_, filled, step) == 0)
                filled += step;
        is_full_ = filled < (64 << 20) && filled > bytes && ftruncate(file_, filled - bytes) == 0;
    }
    FullSharedMemory(FullSharedMemory const&) = delete;
    FullSharedMemory& operator=(FullSharedMemory const&) = delete;
    ~FullSharedMemory() { close(file_); }
    bool is_full() const { return is_full_; }

  private:
    int file_;
    bool is_full_ = false;
};

/// Full while it is set: all ranks fill it when the library asks where the window of the rings is.
std::optional<FullSharedMemory>* fill_in_query = nullptr;

std::string move_to_the_next_rank(Transport transport) {
    Settings settings = Settings::from_environment();
    settings.transport = transport;
    Context context(MPI_COMM_WORLD, settings);
    int const next = (context.rank() + 1) % context.size();
    int const last = (context.rank() + context.size() - 1) % context.size();
    std::vector<std::uint64_t> numbers(100'000, static_cast<std::uint64_t>(context.rank()));
    std::vector<Destination> to;
    for (std::size_t i = 0; i < numbers.size(); ++i)
        to.push_back({next, static_cast<std::int64_t>(i)});
    RedistributionReport const report = redistribute(context, blocks_of(numbers), to);
    EXPECT_EQ(numbers, std::vector<std::uint64_t>(numbers.size(), static_cast<std::uint64_t>(last)));
    return report.why;
}

SLUICE_NEEDS_RANKS(2, FullSharedMemory, makes_a_redistribution_use_messages);
TEST(FullSharedMemory, makes_a_redistribution_use_messages) {
    move_to_the_next_rank(Transport::message);  // the MPI has its own pages afterwards
    std::optional<FullSharedMemory> full;
    fill_in_query = &full;
    std::string const why = move_to_the_next_rank(Transport::ring);
    EXPECT_EQ(fill_in_query, nullptr) << "no window was made";
    EXPECT_NE(why.find("messages only (/dev/shm has no room for"), std::string::npos) << why;
    MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace sluice::tests

extern "C" int MPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint* bytes, int* unit, void* base) {
    if (auto* const full = std::exchange(sluice::tests::fill_in_query, nullptr); full != nullptr) {
        if (sluice::tests::world_rank() == 0) {
            full->emplace(256 << 10);
            EXPECT_TRUE((*full)->is_full());
        }
        PMPI_Barrier(MPI_COMM_WORLD);
    }
    return PMPI_Win_shared_query(win, rank, bytes, unit, base);
}
