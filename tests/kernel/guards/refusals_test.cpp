// SPDX-License-Identifier: BSD-3-Clause
/// Pages that are not taken aside, each with its reason, and machines on which none is.
#include <grp.h>
#include <sys/resource.h>

#include <cstring>

#include "kernel/guards/pages_of_test.hpp"
#include "kernel/guards/userfaultfd.hpp"
#include "support/limits/refuse_call.h"

namespace sluice::kernel {
namespace {

using tests::k_page;
using tests::Pages;

std::uint64_t fixed_generation = 1;
std::uint64_t generation() {
    return fixed_generation;
}

class Refusals : public testing::Test {
  protected:
    void SetUp() override {
        if (guards_.rung() == Rung::off) GTEST_SKIP() << guards_.why_not();
    }
    Refusal why_not(void* pages, std::size_t bytes) {
        Refusal why = Refusal::none;
        auto const taken = guards_.take_aside(pages, bytes, &why);
        if (taken) guards_.give_back(*taken);
        return why;
    }
    GuardedPages guards_{Rung::remap, &generation};
};

TEST_F(Refusals, a_range_of_no_whole_pages) {
    Pages const pages(4);
    EXPECT_EQ(why_not(pages.page(0) + 1, k_page), Refusal::not_whole_pages);
    EXPECT_EQ(why_not(pages.page(0), k_page - 1), Refusal::not_whole_pages);
    EXPECT_EQ(why_not(pages.page(0), 0), Refusal::not_whole_pages);
    EXPECT_EQ(guards_.refused(Refusal::not_whole_pages), 3U);
}

TEST_F(Refusals, shared_memory_a_file_and_nothing) {
    Pages const shared(4, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
    EXPECT_EQ(why_not(shared.page(0), k_page), Refusal::not_private);
    int const file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    void* const mapped = mmap(nullptr, k_page, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    EXPECT_EQ(why_not(mapped, k_page), Refusal::not_private);
    munmap(mapped, k_page);
    EXPECT_EQ(why_not(mapped, k_page), Refusal::not_private);
    close(file);
}

TEST_F(Refusals, pages_that_cannot_be_read_or_written) {
    Pages const pages(4);
    mprotect(pages.page(1), k_page, PROT_READ);
    EXPECT_EQ(why_not(pages.page(1), k_page), Refusal::not_writable);
    mprotect(pages.page(1), k_page, PROT_NONE);
    EXPECT_EQ(why_not(pages.page(1), k_page), Refusal::not_writable);
    mprotect(pages.page(1), k_page, PROT_READ | PROT_WRITE);
    EXPECT_EQ(why_not(pages.page(1), k_page), Refusal::none);
}

TEST_F(Refusals, two_mappings) {
    Pages const pages(4);
    mprotect(pages.page(2), k_page, PROT_READ);
    EXPECT_EQ(why_not(pages.page(0), 3 * k_page), Refusal::several);
    EXPECT_EQ(why_not(pages.page(0), 2 * k_page), Refusal::none);
    munmap(pages.page(2), k_page);
    EXPECT_EQ(why_not(pages.page(0), 4 * k_page), Refusal::several);
}

TEST_F(Refusals, locked_pages_which_a_new_generation_tells) {
    Pages const pages(8);
    EXPECT_EQ(why_not(pages.page(0), k_page), Refusal::none);
    // Sanitizers make mlock do nothing.
    if (syscall(SYS_mlock, pages.page(2), 2 * k_page) != 0) GTEST_SKIP() << "no memory may be locked";
    ++fixed_generation;
    EXPECT_EQ(why_not(pages.page(2), k_page), Refusal::locked);
    EXPECT_EQ(why_not(pages.page(4), k_page), Refusal::none);
    syscall(SYS_munlock, pages.page(2), 2 * k_page);
    EXPECT_EQ(why_not(pages.page(2), k_page), Refusal::none);
}

TEST_F(Refusals, pages_that_are_guarded_already) {
    Pages const pages(8);
    auto const first = guards_.take_aside(pages.page(2), 2 * k_page);
    ASSERT_TRUE(first);
    EXPECT_EQ(why_not(pages.page(3), k_page), Refusal::guarded);
    guards_.give_back(*first);
    GuardedPages others;
    auto const taken = others.take_aside(pages.page(2), 2 * k_page);
    ASSERT_TRUE(taken);
    EXPECT_EQ(why_not(pages.page(2), 2 * k_page), Refusal::guarded);
    others.give_back(*taken);
    EXPECT_EQ(why_not(pages.page(2), 2 * k_page), Refusal::none);
}

TEST_F(Refusals, a_process_without_room_for_more) {
    Pages const pages(4096);
    rlimit before{}, tight{};
    getrlimit(RLIMIT_AS, &before);
    tight = before;
    tight.rlim_cur = 1 << 20;  // less than it has
    setrlimit(RLIMIT_AS, &tight);
    Refusal const why = why_not(pages.page(0), pages.bytes());
    setrlimit(RLIMIT_AS, &before);
    EXPECT_EQ(why, Refusal::no_room);
    EXPECT_EQ(why_not(pages.page(0), pages.bytes()), Refusal::none);
}

TEST_F(Refusals, a_process_that_reaches_its_number_of_mappings_loses_no_page) {
    EXPECT_TRUE(tests::in_child([] {
        GuardedPages guards;
        Pages const pages(64);
        pages.fill(std::byte{1});
        auto const before = guards.take_aside(pages.page(8), 4 * k_page);
        std::memset(before->aside, 7, before->bytes);
        // Each of these pages is a mapping of its own.
        std::size_t made = 0;
        for (int protection = PROT_READ;
             mmap(nullptr, k_page, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED; ++made)
            protection ^= PROT_READ | PROT_WRITE;
        Refusal why = Refusal::none;
        bool const refused = !guards.take_aside(pages.page(20), 4 * k_page, &why) && why == Refusal::no_room;
        guards.give_back(*before);
        return made > 1000 && refused && pages.page(11)[5] == std::byte{7} && pages.page(20)[0] == std::byte{1};
    }));
}

TEST_F(Refusals, a_child_of_fork_guards_nothing_and_its_parent_goes_on) {
    Pages const pages(4);
    EXPECT_TRUE(tests::in_child([&] {
        Refusal why = Refusal::none;
        return !guards_.take_aside(pages.page(0), k_page, &why) && why == Refusal::off;
    }));
    EXPECT_EQ(why_not(pages.page(0), k_page), Refusal::none);
}

TEST_F(Refusals, a_program_that_has_closed_the_descriptor_and_uses_its_number) {
    Pages const pages(4);
    GuardedPages guards;
    int const number = guards.descriptor();
    close(number);
    int const others = open("/dev/null", O_RDONLY | O_CLOEXEC);
    ASSERT_EQ(dup2(others, number), number);
    Refusal why = Refusal::none;
    EXPECT_FALSE(guards.take_aside(pages.page(0), k_page, &why));
    EXPECT_EQ(why, Refusal::off);
    close(others);
    close(number);
}

TEST(GuardedPagesThatAreOff, say_why) {
    EXPECT_NE(GuardedPages(Rung::off).why_not(), "");
    EXPECT_TRUE(tests::in_child([] {
        if (!refuse_call(SYS_userfaultfd)) return false;
        if (access("/dev/userfaultfd", R_OK | W_OK) == 0) return true;  // the other way is open
        GuardedPages const guards;
        return guards.rung() == Rung::off && guards.descriptor() == -1 &&
               guards.why_not().find("a seccomp profile is in force") != std::string::npos;
    }));
    EXPECT_TRUE(tests::in_child([] {
                    if (!refuse_call(SYS_mremap)) return false;
                    GuardedPages const guards;
                    return guards.rung() == Rung::off && guards.why_not().find("mremap") != std::string::npos;
                }) ||
                GuardedPages().rung() == Rung::off);
}

TEST(GuardedPagesThatAreOff, a_user_without_privilege_is_told_what_would_give_it) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    std::string const why_not = GuardedPages().why_not();
    if (why_not.find("a seccomp profile is in force") != std::string::npos) GTEST_SKIP() << why_not;
    std::ifstream file("/proc/sys/vm/unprivileged_userfaultfd");
    int allowed = 0;
    file >> allowed;
    EXPECT_TRUE(tests::in_child([&] {
        if (setgroups(0, nullptr) != 0 || setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0)
            return false;
        bool const may = allowed == 1 || access("/dev/userfaultfd", R_OK | W_OK) == 0;
        GuardedPages const guards;
        return may ? guards.rung() != Rung::off
                   : guards.rung() == Rung::off && guards.why_not().find("CAP_SYS_PTRACE") != std::string::npos;
    }));
}

}  // namespace
}  // namespace sluice::kernel
