// SPDX-License-Identifier: BSD-3-Clause
#include "probes/node_barrier.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <new>

namespace sluice::probes {
namespace {

class BarrierFile : public testing::Test {
  protected:
    BarrierFile() : path_((std::filesystem::temp_directory_path() / "sluice-test-barrier-XXXXXX").string()) {
        int const file = mkstemp(path_.data());
        if (ftruncate(file, 4096) != 0) throw std::runtime_error("no room for a page");
        close(file);
    }
    ~BarrierFile() override { unlink(path_.c_str()); }
    std::string path_;
};

TEST_F(BarrierFile, lets_nobody_on_before_all_have_come) {
    constexpr int processes = 4;
    constexpr int rounds = 50;
    void* const page =
        mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    auto* const came = new (page) std::atomic<int>(0);
    std::vector<pid_t> children;
    for (int i = 0; i < processes; ++i) {
        pid_t const child = fork();
        if (child == 0) {
            bool good = true;
            NodeBarrier barrier(path_, processes);
            for (int round = 1; round <= rounds; ++round) {
                came->fetch_add(1);
                barrier.wait(60);
                good = good && came->load() >= round * processes;
                barrier.wait(60);
                good = good && came->load() <= (round + 1) * processes;
            }
            _exit(good ? 0 : 1);
        }
        children.push_back(child);
    }
    for (pid_t const child : children) {
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    EXPECT_EQ(came->load(), processes * rounds);
    munmap(page, sizeof(std::atomic<int>));
}

TEST_F(BarrierFile, gives_up_when_somebody_is_missing_and_says_how_many_came) {
    NodeBarrier barrier(path_, 3);
    try {
        barrier.wait(1);
        FAIL() << "one of three was enough";
    } catch (std::runtime_error const& error) {
        EXPECT_NE(std::string(error.what()).find("1 of 3"), std::string::npos) << error.what();
    }
}

TEST_F(BarrierFile, refuses_a_file_without_room_or_that_is_not_there) {
    ASSERT_EQ(truncate(path_.c_str(), 0), 0);
    EXPECT_THROW(NodeBarrier(path_, 2), std::runtime_error);
    EXPECT_THROW(NodeBarrier("/no/such/file", 2), std::runtime_error);
}

}  // namespace
}  // namespace sluice::probes
