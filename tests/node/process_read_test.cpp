// SPDX-License-Identifier: BSD-3-Clause
#include "node/process_read.hpp"

#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "mpi/mpi.hpp"

namespace sluice::engine {
namespace {

TEST(ProcessRead, scattered_pieces_are_gathered_from_another_process) {
    node::NodeRings rings(MPI_COMM_WORLD, 4_KiB);
    std::vector<pid_t> pids(static_cast<std::size_t>(rings.size()));
    if (!node::all_can_read_all(rings, MPI_COMM_WORLD, pids))
        GTEST_SKIP() << "the kernel forbids reads of other processes";

    std::vector<int> mine(3000);
    std::iota(mine.begin(), mine.end(), rings.rank() * 100000);
    int* address = mine.data();
    std::memcpy(rings.board(rings.rank()).data(), &address, sizeof address);
    rings.barrier();
    int const peer = (rings.rank() + 1) % rings.size();
    int* theirs = nullptr;
    std::memcpy(&theirs, rings.board(peer).data(), sizeof theirs);

    std::vector<int> got(300, -1);
    std::vector<iovec> here;
    std::vector<iovec> there;
    for (std::size_t i = 0; i < 300; ++i) {
        here.push_back({&got[i], sizeof(int)});
        there.push_back({theirs + 10 * i, sizeof(int)});
    }
    EXPECT_TRUE(node::read_process(pids[static_cast<std::size_t>(peer)], here, there));
    for (int i = 0; i < 300; ++i)
        EXPECT_EQ(got[static_cast<std::size_t>(i)], peer * 100000 + 10 * i);
    rings.barrier();
}

TEST(ProcessRead, memory_that_is_not_there_is_a_failure_and_not_a_crash) {
    void* const hole = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(hole, MAP_FAILED);
    ASSERT_EQ(munmap(static_cast<char*>(hole) + 4096, 4096), 0);
    std::vector<std::byte> got(8192);
    iovec here{got.data(), got.size()};
    iovec there{hole, 8192};  // the second half is not mapped: the kernel reads short, the next read fails
    EXPECT_FALSE(node::read_process(getpid(), {&here, 1}, {&there, 1}));
    munmap(hole, 4096);
}

TEST(ProcessRead, a_process_that_does_not_exist_is_a_failure) {
    int value = 0;
    iovec here{&value, sizeof value};
    iovec there{&value, sizeof value};
    EXPECT_FALSE(node::read_process(0x3ffffff, {&here, 1}, {&there, 1}));
}

}  // namespace
}  // namespace sluice::engine
