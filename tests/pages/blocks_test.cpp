// SPDX-License-Identifier: BSD-3-Clause
/// Large allocations under libsluice-pages.so have pages of their own, and are else what libc makes. This program is
/// started with the library preloaded.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "pages/pages.hpp"

namespace sluice::pages {
namespace {

constexpr std::size_t k_page = 4096;

Interface const& library() {
    static auto const* const found = static_cast<Interface const*>(dlsym(RTLD_DEFAULT, k_symbol));
    if (found == nullptr) {
        ADD_FAILURE() << "libsluice-pages.so is not preloaded";
        std::abort();
    }
    return *found;
}

bool begins_page(void const* block) {
    return reinterpret_cast<std::uintptr_t>(block) % k_page == 0;
}

/// The library knows the block, and how much of it was asked for.
void expect_whole(void* block, std::size_t asked, char const* function) {
    ASSERT_NE(block, nullptr) << function;
    EXPECT_TRUE(begins_page(block)) << function;
    EXPECT_GE(malloc_usable_size(block), (asked + k_page - 1) / k_page * k_page) << function;
    Block known{};
    EXPECT_TRUE(library().find(block, asked, &known)) << function;
    EXPECT_EQ(known.begin, block) << function;
    EXPECT_EQ(known.asked, asked) << function;
    std::memset(block, 0x5a, asked);
}

/// The compiler leaves out a block that nothing uses.
void* used(void* block) {
    void* const volatile kept = block;
    return kept;
}

std::uint64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::uint64_t size = 0, resident = 0;
    file >> size >> resident;
    return resident * k_page;
}

TEST(BlocksOfWholePages, the_interface_is_that_of_its_header) {
    EXPECT_EQ(library().version, 1U);
    EXPECT_EQ(library().bytes, sizeof(Interface));
    EXPECT_TRUE(library().gives_whole_pages());
}

TEST(BlocksOfWholePages, each_function_that_allocates_makes_them) {
    for (std::size_t const asked :
         {k_least_whole, k_least_whole + 1, std::size_t{3} << 20, (std::size_t{40} << 20) + 17}) {
        void* aligned = nullptr;
        EXPECT_EQ(posix_memalign(&aligned, 64, asked), 0);
        std::array<std::pair<char const*, void*>, 9> const blocks{
            {{"malloc", std::malloc(asked)},
             {"calloc", std::calloc(1, asked)},
             {"realloc", std::realloc(nullptr, asked)},
             {"realloc of a small block", std::realloc(std::malloc(100), asked)},
             {"reallocarray", reallocarray(nullptr, 1, asked)},
             {"aligned_alloc", std::aligned_alloc(64, asked)},
             {"posix_memalign", aligned},
             {"memalign", memalign(1 << 16, asked)},
             {"valloc", valloc(asked)}}};
        for (auto const& [function, block] : blocks)
            expect_whole(block, asked, function);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks[7].second) % (1 << 16), 0U);
        for (auto const& [function, block] : blocks) {
            std::free(block);
            EXPECT_FALSE(library().find(block, 1, nullptr)) << function;
        }
        std::unique_ptr<char[]> const made(new char[asked]);
        expect_whole(made.get(), asked, "new");
    }
}

TEST(BlocksOfWholePages, small_allocations_are_left_alone) {
    void* const block = used(std::malloc(k_least_whole - 1));
    EXPECT_FALSE(library().find(block, 1, nullptr));
    std::free(block);
}

TEST(BlocksOfWholePages, errors_are_those_of_libc) {
    void* block = &block;
    EXPECT_EQ(posix_memalign(&block, 24, 1 << 20), EINVAL);
    EXPECT_EQ(posix_memalign(&block, 64, SIZE_MAX - 100), ENOMEM);
    EXPECT_EQ(block, &block);
    auto const refuses = [](std::function<void*()> const& allocate) {
        errno = 0;
        return allocate() == nullptr && errno == ENOMEM;
    };
    std::size_t volatile huge = SIZE_MAX - 5, half = SIZE_MAX / 2;
    EXPECT_TRUE(refuses([&] { return std::malloc(huge); }));
    EXPECT_TRUE(refuses([&] { return std::malloc(half); }));
    EXPECT_TRUE(refuses([&] { return std::calloc(half, 4); }));
    EXPECT_TRUE(refuses([&] { return reallocarray(nullptr, half, 4); }));
    auto* const kept = static_cast<char*>(std::malloc(1 << 20));
    kept[12345] = 'k';
    EXPECT_TRUE(refuses([&] { return std::realloc(kept, half); }));
    EXPECT_EQ(kept[12345], 'k');
    expect_whole(kept, 1 << 20, "a block that could not grow");
    std::free(kept);
}

TEST(BlocksOfWholePages, find_knows_all_pages_of_a_block_and_no_other) {
    auto* const block = static_cast<std::byte*>(std::malloc((1 << 20) + 10));
    EXPECT_TRUE(library().find(block + 5, 1 << 20, nullptr));
    EXPECT_TRUE(library().find(block + (1 << 20), k_page, nullptr));  // the rest of the last page is unused
    EXPECT_FALSE(library().find(block + (1 << 20), k_page + 1, nullptr));
    EXPECT_FALSE(library().find(block - 1, 10, nullptr));
    EXPECT_FALSE(library().find(block, SIZE_MAX, nullptr));
    EXPECT_FALSE(library().find(&k_page, 1, nullptr));
    std::free(block);
}

TEST(BlocksOfWholePages, calloc_gives_zeros_and_touches_no_fresh_page) {
    for (int round = 0; round < 20; ++round) {
        std::size_t const bytes = k_least_whole + static_cast<std::size_t>(round) * 100'000;
        std::vector<void*> used;
        for (int i = 0; i < 5; ++i)
            used.push_back(std::memset(std::malloc(bytes), 0xff, bytes));
        for (void* const block : used)
            std::free(block);
        auto* const zeros = static_cast<unsigned char*>(std::calloc(bytes, 1));
        ASSERT_TRUE(std::all_of(zeros, zeros + bytes, [](unsigned char byte) { return byte == 0; })) << round;
        std::free(zeros);
    }
    constexpr std::size_t bytes = std::size_t{64} << 20;  // always a mapping of its own
    std::uint64_t const before = resident_bytes();
    void* const fresh = used(std::calloc(bytes, 1));
    EXPECT_LT(resident_bytes(), before + (1 << 20));
    std::free(fresh);
}

TEST(BlocksOfWholePages, what_is_freed_goes_back_as_with_libc) {
    std::vector<void*> blocks;
    auto const round = [&] {
        for (std::size_t i = 0; i < 16; ++i)
            blocks.push_back(std::memset(std::malloc(k_least_whole + i * 70'000), 1, k_least_whole));
        for (void* const block : blocks)
            std::free(block);
        blocks.clear();
    };
    for (int i = 0; i < 50; ++i)
        round();
    std::uint64_t const before = resident_bytes();
    for (int i = 0; i < 1000; ++i)
        round();
    EXPECT_LE(resident_bytes(), before + (1 << 20));
}

TEST(BlocksOfWholePages, a_block_that_is_made_again_and_again_keeps_its_pages_as_with_libc) {
    auto const faults_of = [](std::size_t bytes) {
        rusage before{}, after{};
        getrusage(RUSAGE_SELF, &before);
        for (int i = 0; i < 100; ++i)
            std::free(std::memset(used(std::malloc(bytes)), 1, bytes));
        getrusage(RUSAGE_SELF, &after);
        return after.ru_minflt - before.ru_minflt;
    };
    for (std::size_t const bytes : {std::size_t{300'000}, std::size_t{4} << 20, std::size_t{20} << 20}) {
        faults_of(bytes);
        EXPECT_LT(faults_of(bytes), 100) << bytes;  // each page of each block would be one if it was mapped anew
    }
}

/// Blocks of all sizes with a pattern each, which is what must be there when one is resized or freed.
class Torture {
  public:
    explicit Torture(unsigned seed) : random_(seed) {}
    ~Torture() {
        for (auto const& [block, held] : blocks_)
            std::free(block);
    }
    void step() {
        if (blocks_.size() < 20 || draw(3) == 0) {
            auto* const made = allocate();
            return add(made, size_);
        }
        auto const one = std::next(blocks_.begin(), static_cast<std::ptrdiff_t>(draw(blocks_.size())));
        auto const [block, held] = *one;
        check(block, held);
        blocks_.erase(one);
        if (draw(2) == 0) return std::free(block);
        size_ = draw_size();
        auto* const resized = static_cast<unsigned char*>(std::realloc(block, size_));
        for (std::size_t i = 0; i < std::min(size_, held.size); i += 509)
            if (resized[i] != held.pattern) ++faults;
        add(resized, size_);
    }
    int faults = 0;

  private:
    struct Held {
        std::size_t size;
        unsigned char pattern;
    };
    std::size_t draw(std::size_t below) { return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_); }
    std::size_t draw_size() { return 1 + (draw(4) == 0 ? draw(2 << 20) : draw(5000)); }
    unsigned char* allocate() {
        size_ = draw_size();
        void* block = nullptr;
        switch (draw(4)) {
            case 0:
                block = std::malloc(size_);
                break;
            case 1:
                block = std::calloc(1, size_);
                break;
            case 2:
                block = std::aligned_alloc(64, size_);
                break;
            default:
                EXPECT_EQ(posix_memalign(&block, std::size_t{1} << (3 + draw(12)), size_), 0);
        }
        return static_cast<unsigned char*>(block);
    }
    void add(unsigned char* block, std::size_t size) {
        auto const pattern = static_cast<unsigned char>(draw(256));
        std::memset(block, pattern, size);
        if (size >= k_least_whole && (!begins_page(block) || !library().find(block, size, nullptr))) ++faults;
        if (size < k_least_whole && library().find(block, 1, nullptr)) ++faults;
        blocks_[block] = {size, pattern};
    }
    void check(unsigned char const* block, Held const& held) {
        for (std::size_t i = 0; i < held.size; i += 509)
            if (block[i] != held.pattern) ++faults;
        if (block[held.size - 1] != held.pattern) ++faults;
    }
    std::mt19937 random_;
    std::size_t size_ = 0;
    std::map<unsigned char*, Held> blocks_;
};

TEST(BlocksOfWholePages, threads_that_allocate_at_random_keep_their_bytes) {
    std::array<int, 3> faults{};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < faults.size(); ++i)
        threads.emplace_back([&, i] {
            Torture torture(i + 1);
            for (int step = 0; step < 3000; ++step)
                torture.step();
            faults[i] = torture.faults;
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(faults, (std::array<int, 3>{}));
}

TEST(BlocksOfWholePages, children_of_a_fork_allocate_while_threads_do) {
    std::atomic<bool> ends{false};
    std::thread other([&] {
        Torture torture(5);
        while (!ends)
            torture.step();
    });
    for (int i = 0; i < 50; ++i) {
        pid_t const child = fork();
        if (child == 0) {
            Torture torture(9);
            for (int step = 0; step < 30; ++step)
                torture.step();
            _exit(torture.faults);
        }
        int status = -1;
        waitpid(child, &status, 0);
        ASSERT_EQ(status, 0) << i;
    }
    ends = true;
    other.join();
}

}  // namespace
}  // namespace sluice::pages
