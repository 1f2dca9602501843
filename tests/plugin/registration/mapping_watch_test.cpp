// SPDX-License-Identifier: BSD-3-Clause
// Each way in which memory can be replaced is told before the next fence has passed, also by raw system calls.
#include "plugin/services/registration/mapping_watch.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace sluice::plugin {

namespace {

constexpr std::size_t k_page = 4096;

class Changes final : public MappingWatch::Listener {
  public:
    void changed(MappingWatch::Range range) noexcept override {
        std::lock_guard const lock(mutex_);
        ranges_[used_++ % ranges_.size()] = range;
    }
    bool covers(void const* at, std::size_t bytes) const {
        std::lock_guard const lock(mutex_);
        MappingWatch::Range const wanted{reinterpret_cast<std::uintptr_t>(at), bytes};
        for (std::size_t i = 0; i < used_ && i < ranges_.size(); ++i)
            if (ranges_[i].contains(wanted)) return true;
        return false;
    }
    std::size_t count() const {
        std::lock_guard const lock(mutex_);
        return used_;
    }

  private:
    mutable std::mutex mutex_;
    std::vector<MappingWatch::Range> ranges_ = std::vector<MappingWatch::Range>(64);
    std::size_t used_ = 0;
};

class MappingWatchTest : public testing::Test {
  protected:
    void SetUp() override {
        std::string const why = watch_.open(changes_);
        if (!why.empty()) GTEST_SKIP() << why;
    }
    static std::byte* map(std::size_t pages, void* at = nullptr, int flags = 0) {
        void* const got = mmap(at, pages * k_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
        return got == MAP_FAILED ? nullptr : static_cast<std::byte*>(got);
    }
    static MappingWatch::Range range(std::byte const* at, std::size_t pages) {
        return {reinterpret_cast<std::uintptr_t>(at), pages * k_page};
    }
    void expect_told(std::byte const* at, std::size_t pages) {
        watch_.fence();
        EXPECT_TRUE(changes_.covers(at, pages * k_page));
        EXPECT_FALSE(watch_.watches(range(at, pages)));
    }

    Changes changes_;
    MappingWatch watch_;
};

TEST_F(MappingWatchTest, tells_of_memory_that_is_unmapped_by_a_raw_call) {
    std::byte* const memory = map(8);
    ASSERT_TRUE(watch_.watch(range(memory, 8)));
    EXPECT_TRUE(watch_.watches(range(memory + k_page, 2)));
    syscall(SYS_munmap, memory, 8 * k_page);
    expect_told(memory, 8);
}

TEST_F(MappingWatchTest, tells_of_memory_that_another_mapping_takes_the_place_of) {
    std::byte* const memory = map(4);
    ASSERT_TRUE(watch_.watch(range(memory, 4)));
    ASSERT_EQ(map(4, memory, MAP_FIXED), memory);
    expect_told(memory, 4);
    EXPECT_TRUE(watch_.watch(range(memory, 4)));
    munmap(memory, 4 * k_page);
}

TEST_F(MappingWatchTest, tells_of_memory_that_is_moved_or_emptied) {
    std::byte* const memory = map(4);
    std::byte* const place = map(4);
    ASSERT_TRUE(watch_.watch(range(memory, 4)));
    ASSERT_EQ(madvise(memory, 4 * k_page, MADV_DONTNEED), 0);
    expect_told(memory, 4);
    ASSERT_TRUE(watch_.watch(range(memory, 4)));
    ASSERT_EQ(mremap(memory, 4 * k_page, 4 * k_page, MREMAP_MAYMOVE | MREMAP_FIXED, place), place);
    watch_.fence();
    EXPECT_FALSE(watch_.watches(range(memory, 4)));
    EXPECT_GE(changes_.count(), 2U);  // newer kernels also tell that the old place is unmapped
    munmap(place, 4 * k_page);
}

TEST_F(MappingWatchTest, watches_overlapping_ranges_as_one_and_forgets_them_when_a_part_goes) {
    std::byte* const memory = map(16);
    ASSERT_TRUE(watch_.watch(range(memory, 4)));
    ASSERT_TRUE(watch_.watch(range(memory + 8 * k_page, 4)));
    EXPECT_FALSE(watch_.watches(range(memory, 12)));
    ASSERT_TRUE(watch_.watch(range(memory + 2 * k_page, 8)));
    EXPECT_TRUE(watch_.watches(range(memory, 12)));
    syscall(SYS_munmap, memory + 6 * k_page, k_page);
    watch_.fence();
    EXPECT_FALSE(watch_.watches(range(memory, 1)));
    EXPECT_TRUE(watch_.watch(range(memory, 4)));
    munmap(memory, 16 * k_page);
}

TEST_F(MappingWatchTest, watches_no_pages_of_a_file) {
    void* const file = mmap(nullptr, k_page, PROT_READ, MAP_PRIVATE, fileno(std::tmpfile()), 0);
    ASSERT_NE(file, MAP_FAILED);
    EXPECT_FALSE(watch_.watch({reinterpret_cast<std::uintptr_t>(file), k_page}));
    munmap(file, k_page);
}

TEST_F(MappingWatchTest, remembers_a_bounded_number_of_ranges) {
    constexpr std::size_t k_ranges = 1100;
    std::byte* const memory = map(2 * k_ranges);
    std::size_t watched = 0;
    for (std::size_t i = 0; i < k_ranges; ++i)
        watched += watch_.watch(range(memory + 2 * i * k_page, 1)) ? 1 : 0;
    EXPECT_EQ(watched, 1024U);
    syscall(SYS_munmap, memory, 2 * k_ranges * k_page);
    watch_.fence();
    EXPECT_FALSE(watch_.watches(range(memory, 1)));
}

TEST_F(MappingWatchTest, no_change_waits_for_ever_after_the_end_though_a_child_lives) {
    std::byte* const memory = map(4);
    ASSERT_TRUE(watch_.watch(range(memory, 4)));
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    pid_t const child = fork();
    if (child == 0) {
        char byte = 0;
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
    }
    watch_.close();
    munmap(memory, 4 * k_page);
    close(ends[0]);
    close(ends[1]);
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

}  // namespace

}  // namespace sluice::plugin
