// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/proc_text.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "kernel/files/read_text.hpp"
#include "kernel/process_stat.hpp"

namespace sluice::kernel {
namespace {

TEST(ProcText, numbers_follow_the_whole_key_at_the_beginning_of_a_line) {
    constexpr std::string_view text = "Private_Clean:  1 kB\nPss_Dirty: 7 kB\nPss:   12 kB\nSwapPss: 3 kB\n";
    EXPECT_EQ(number_after(text, "Pss:"), 12U);
    EXPECT_EQ(bytes_after(text, "Pss:"), 12U * 1024);
    EXPECT_EQ(number_after(text, "Private_Clean:"), 1U);
    EXPECT_EQ(number_after("inactive_file 5\n", "inactive"), std::nullopt);
    EXPECT_EQ(bytes_after(text, "Rss:"), std::nullopt);
    EXPECT_EQ(number_after("MemTotal: none\n", "MemTotal:"), std::nullopt);
}

TEST(ProcText, statm_has_six_numbers) {
    auto const statm = statm_in("1000 200 30 4 0 500 0\n");
    ASSERT_TRUE(statm);
    EXPECT_EQ(statm->size, 1000U);
    EXPECT_EQ(statm->resident, 200U);
    EXPECT_EQ(statm->shared, 30U);
    EXPECT_EQ(statm->data, 500U);
    EXPECT_FALSE(statm_in("1000 200 30"));
    EXPECT_FALSE(statm_in(""));
}

TEST(ProcText, the_name_of_a_process_may_look_like_fields) {
    auto const stat = process_stat_in(
        "77 (a) Z 5 (b) S 42 77 77 0 -1 4194304 105 0 0 0 0 0 0 0 20 0 1 0 987654 2412544 192 18446744073709551615\n");
    ASSERT_TRUE(stat);
    EXPECT_EQ(stat->state, 'S');
    EXPECT_EQ(stat->parent, 42U);
    EXPECT_EQ(stat->started, 987654U);
}

TEST(ProcText, a_stat_that_is_cut_off_is_none) {
    for (char const* const text : {"", "77 (a", "77 (a)", "77 (a) ", "77 (a) S 42 77", "77 (a) S 42 77 0 0 0"})
        EXPECT_FALSE(process_stat_in(text)) << text;
}

TEST(ProcessStat, a_child_is_told_with_its_parent_until_it_is_reaped) {
    pid_t const child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(0);
    siginfo_t info{};
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
    auto const ended = process_stat(child);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->state, 'Z');
    EXPECT_EQ(ended->parent, static_cast<std::uint64_t>(getpid()));
    auto const own = own_process_stat();
    ASSERT_TRUE(own);
    EXPECT_LE(own->started, ended->started);
    EXPECT_FALSE(process_stat(child));
}

TEST(ProcText, wanted_lines_are_read_in_pieces) {
    std::string const path = testing::TempDir() + "wanted_lines";
    std::ofstream(path) << "Name: a\nGroups: " << std::string(5000, '7') << "\nVmHWM: 12 kB\n"
                        << std::string(490, 'x') << "\nRssAnon: 34 kB\nRss: 5 kB\nVmPin:";
    std::array<char, 64> room;
    constexpr std::array<std::string_view, 2> words{"VmHWM:", "RssAnon:"};
    EXPECT_EQ(read_lines(path.c_str(), words, room), "VmHWM: 12 kB\nRssAnon: 34 kB\n");
    EXPECT_EQ(read_lines(path.c_str(), words, std::span(room).first(14)), "VmHWM: 12 kB\n");
    EXPECT_EQ(read_lines((path + ".none").c_str(), words, room), "");
    std::remove(path.c_str());
}

TEST(ProcText, the_lines_of_memory_are_those_of_the_whole_text) {
    std::array<char, 512> room;
    auto const told = memory_status_in(read_lines("/proc/self/status", k_lines_of_memory, room));
    ASSERT_TRUE(told);
    EXPECT_GT(told->high_water, 0U);
    EXPECT_GT(told->anonymous, 0U);
}

}  // namespace
}  // namespace sluice::kernel
