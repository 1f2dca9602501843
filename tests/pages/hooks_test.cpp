// SPDX-License-Identifier: BSD-3-Clause
/// The hooks of libsluice-pages.so: which ranges they are told, and when. This program is started with the library
/// preloaded.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#include "pages/pages.hpp"

namespace sluice::pages {
namespace {

constexpr std::size_t k_page = 4096;

Interface const& library() {
    static auto const* const found = static_cast<Interface const*>(dlsym(RTLD_DEFAULT, k_symbol));
    if (found == nullptr) std::abort();
    return *found;
}

/// What the hook was told; it allocates nothing.
struct Told {
    void const* from;
    std::size_t bytes;
};
std::array<Told, 64> told;
std::atomic<std::size_t> times{0};  // atomic: the compiler believes that libc calls nothing of this file

/// The compiler leaves out a block that nothing uses.
void* used(void* block) {
    void* const volatile kept = block;
    return kept;
}

void remember(void const* from, std::size_t bytes) {
    if (times < told.size()) told[times] = {from, bytes};
    ++times;
}

class HooksTest : public testing::Test {
  protected:
    ~HooksTest() override { library().set_hook(nullptr); }
    /// True if the call tells a range that holds all of this one.
    bool tells(void const* from, std::size_t bytes, std::function<void()> const& call) {
        times = 0;
        library().set_hook(&remember);
        call();
        library().set_hook(nullptr);
        auto const begin = reinterpret_cast<std::uintptr_t>(from);
        for (std::size_t i = 0; i < std::min(times.load(), told.size()); ++i) {
            auto const first = reinterpret_cast<std::uintptr_t>(told[i].from);
            if (first <= begin && bytes <= told[i].bytes && begin - first <= told[i].bytes - bytes) return true;
        }
        return false;
    }
    std::byte* map(std::size_t pages) {
        return static_cast<std::byte*>(
            mmap(nullptr, pages * k_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    }
};

TEST_F(HooksTest, blocks_are_told_before_they_are_freed_and_resized) {
    void* block = std::malloc(1 << 20);
    EXPECT_TRUE(tells(block, 1 << 20, [&] { block = std::realloc(block, 3 << 20); }));
    EXPECT_TRUE(tells(block, 3 << 20, [&] { block = reallocarray(block, 1, 1000); }));
    std::free(block);
    block = std::malloc(100'000);  // may hold whole pages, too
    EXPECT_TRUE(tells(block, 100'000, [&] { std::free(block); }));
    EXPECT_FALSE(tells(block, 1, [&] { std::free(used(std::malloc(100))); }));
    EXPECT_EQ(times, 0U);
}

TEST_F(HooksTest, each_call_that_changes_pages_tells_them) {
    auto* const pages = map(8);
    std::size_t const bytes = 8 * k_page;
    EXPECT_TRUE(tells(pages, bytes, [&] { madvise(pages, bytes, MADV_NORMAL); }));
    EXPECT_TRUE(tells(pages, bytes, [&] { posix_madvise(pages, bytes, POSIX_MADV_NORMAL); }));
    EXPECT_TRUE(tells(pages, bytes, [&] { mprotect(pages, bytes, PROT_READ | PROT_WRITE); }));
    EXPECT_TRUE(tells(pages, bytes, [&] { pkey_mprotect(pages, bytes, PROT_READ | PROT_WRITE, -1); }));
    EXPECT_TRUE(tells(pages, bytes, [&] { mlock(pages, bytes); }));
    EXPECT_TRUE(tells(pages, bytes, [&] { munlock(pages, bytes); }));
    EXPECT_TRUE(tells(pages, bytes, [&] { mlock2(pages, bytes, MLOCK_ONFAULT); }));
    EXPECT_TRUE(tells(pages, bytes, [&] { munlockall(); }));
    EXPECT_TRUE(tells(pages, bytes, [&] { malloc_trim(0); }));
    EXPECT_TRUE(tells(pages, 2 * k_page, [&] {
        mmap(pages, 2 * k_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    }));
    EXPECT_FALSE(tells(pages, 1, [&] { munmap(map(1), k_page); }));
    EXPECT_EQ(times, 1U);  // the unmapping
    std::byte* moved = nullptr;
    auto* const elsewhere = map(8);
    EXPECT_TRUE(tells(elsewhere, bytes, [&] {
        moved = static_cast<std::byte*>(mremap(pages, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere));
    }));
    ASSERT_EQ(moved, elsewhere);
    EXPECT_TRUE(
        tells(elsewhere, bytes, [&] { moved = static_cast<std::byte*>(mremap(elsewhere, bytes, 4 * k_page, 0)); }));
    EXPECT_EQ(moved, elsewhere);
    std::array<int, 2> pipes{};
    ASSERT_EQ(pipe(pipes.data()), 0);
    iovec const range{elsewhere, k_page};
    EXPECT_TRUE(tells(elsewhere, k_page, [&] { EXPECT_EQ(vmsplice(pipes[1], &range, 1, 0), ssize_t{k_page}); }));
    EXPECT_TRUE(tells(elsewhere, 4 * k_page, [&] { munmap(elsewhere, 4 * k_page); }));
    close(pipes[0]);
    close(pipes[1]);
}

TEST_F(HooksTest, a_break_that_shrinks_tells_what_it_drops) {
    auto* const end = static_cast<std::byte*>(sbrk(4 * k_page)) + 4 * k_page;
    EXPECT_TRUE(tells(end - k_page, k_page, [&] { sbrk(-static_cast<std::intptr_t>(k_page)); }));
    EXPECT_TRUE(tells(end - 4 * k_page, 3 * k_page, [&] { EXPECT_EQ(brk(end - 4 * k_page), 0); }));
    EXPECT_FALSE(tells(end, 1, [&] { sbrk(0); }));
}

TEST_F(HooksTest, shared_memory_that_replaces_a_mapping_tells_it) {
    int const segment = shmget(IPC_PRIVATE, k_page, IPC_CREAT | 0600);
    if (segment < 0) GTEST_SKIP() << "no shared memory of System V";
    auto* const page = map(1);
    void* at = nullptr;
    EXPECT_TRUE(tells(page, k_page, [&] { at = shmat(segment, page, SHM_REMAP); }));
    EXPECT_EQ(at, page);
    std::uint64_t const before = library().generation();
    shmdt(at);
    EXPECT_NE(library().generation(), before);
    shmctl(segment, IPC_RMID, nullptr);
}

TEST_F(HooksTest, a_hook_may_free_and_is_not_called_for_it) {
    static void* other = nullptr;
    other = std::malloc(1 << 20);
    void* const block = used(std::malloc(1 << 20));
    times = 0;
    library().set_hook([](void const*, std::size_t) {
        ++times;
        std::free(other);
        other = std::malloc(2 << 20);
        errno = 77;
    });
    errno = 5;
    std::free(block);
    EXPECT_EQ(errno, 5);
    library().set_hook(nullptr);
    EXPECT_EQ(times, 1U);
    std::free(other);
}

TEST_F(HooksTest, a_child_that_has_the_memory_of_its_parent_calls_none) {
    times = 0;
    library().set_hook(&remember);
    library().set_end_hook([] { ++times; });
    pid_t const child = vfork();
    if (child == 0) {
        execl("/bin/true", "true", nullptr);
        _exit(1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    library().set_hook(nullptr);
    library().set_end_hook(nullptr);
    EXPECT_EQ(times, 0U);
}

TEST_F(HooksTest, the_generation_changes_with_calls_that_change_or_lock_mappings) {
    auto* const pages = map(4);
    std::uint64_t before = library().generation();
    std::free(used(std::malloc(1 << 20)));
    EXPECT_EQ(library().generation(), before);
    for (auto const& call :
         {std::function<void()>([&] { mlock(pages, k_page); }), std::function<void()>([&] { munlock(pages, k_page); }),
          std::function<void()>([&] { mprotect(pages, k_page, PROT_READ); }),
          std::function<void()>([&] { munmap(pages, 4 * k_page); })}) {
        call();
        EXPECT_NE(library().generation(), before);
        before = library().generation();
    }
}

/// Runs the end of a process in a child; returns what its hook and the program after it have written.
std::string written_by(std::function<void()> const& end) {
    std::array<int, 2> pipes{};
    if (pipe(pipes.data()) != 0) return "no pipe";
    pid_t const child = fork();
    if (child == 0) {
        dup2(pipes[1], STDOUT_FILENO);
        library().set_end_hook([] {
            if (write(STDOUT_FILENO, "hook ", 5) != 5) std::abort();
        });
        end();
        std::abort();
    }
    close(pipes[1]);
    std::string text;
    char byte = 0;
    while (read(pipes[0], &byte, 1) == 1)
        text += byte;
    close(pipes[0]);
    int status = -1;
    waitpid(child, &status, 0);
    return text + (WIFEXITED(status) ? std::to_string(WEXITSTATUS(status)) : "signal");
}

TEST_F(HooksTest, each_end_of_a_process_calls_the_hook_first) {
    EXPECT_EQ(written_by([] { _exit(3); }), "hook 3");
    EXPECT_EQ(written_by([] { _Exit(4); }), "hook 4");
    EXPECT_EQ(written_by([] { std::quick_exit(5); }), "hook 5");
    std::array<char*, 4> words{const_cast<char*>("sh"), const_cast<char*>("-c"), const_cast<char*>("echo $A; exit 6"),
                               nullptr};
    std::array<char*, 2> variables{const_cast<char*>("A=a"), nullptr};
    setenv("A", "b", 1);
    EXPECT_EQ(written_by([&] { execve("/bin/sh", words.data(), variables.data()); }), "hook a\n6");
    EXPECT_EQ(written_by([&] { execv("/bin/sh", words.data()); }), "hook b\n6");
    EXPECT_EQ(written_by([&] { execvp("sh", words.data()); }), "hook b\n6");
    EXPECT_EQ(written_by([&] { execvpe("sh", words.data(), variables.data()); }), "hook a\n6");
    EXPECT_EQ(written_by([&] { execl("/bin/sh", "sh", "-c", "echo $A; exit 7", nullptr); }), "hook b\n7");
    EXPECT_EQ(written_by([&] { execlp("sh", "sh", "-c", "echo $A; exit 7", nullptr); }), "hook b\n7");
    EXPECT_EQ(written_by([&] { execle("/bin/sh", "sh", "-c", "echo $A; exit 7", nullptr, variables.data()); }),
              "hook a\n7");
    int const shell = open("/bin/sh", O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(written_by([&] { fexecve(shell, words.data(), variables.data()); }), "hook a\n6");
    EXPECT_EQ(written_by([&] { execveat(AT_FDCWD, "/bin/sh", words.data(), variables.data(), 0); }), "hook a\n6");
    close(shell);
}

}  // namespace
}  // namespace sluice::pages
