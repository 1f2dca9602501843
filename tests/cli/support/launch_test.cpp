// SPDX-License-Identifier: BSD-3-Clause
#include "cli/support/launch.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace sluice::cli {
namespace {

Ended run(std::string const& script, int silence_seconds, std::vector<std::string>& lines) {
    return launch({"/bin/sh", "-c", script}, {"SLUICE_TEST_WORD=from the launcher"}, silence_seconds,
                  [&lines](std::string const& line) { lines.push_back(line); });
}

TEST(Launch, hands_on_lines_environment_exit_code_and_complaints) {
    std::vector<std::string> lines;
    Ended const ended = run("echo one; echo \"$SLUICE_TEST_WORD\"; echo wrong >&2; exit 7", 60, lines);
    EXPECT_EQ(lines, (std::vector<std::string>{"one", "from the launcher"}));
    EXPECT_EQ(ended.code, 7);
    EXPECT_EQ(ended.complaints, "wrong\n");
    EXPECT_FALSE(ended.silent);
}

TEST(Launch, tells_which_signal_ended_the_program) {
    std::vector<std::string> lines;
    EXPECT_EQ(run("kill -SEGV $$", 60, lines).code, 128 + SIGSEGV);
}

TEST(Launch, stops_a_program_that_says_nothing_for_too_long) {
    std::vector<std::string> lines;
    Ended const ended = run("echo one; exec sleep 1000", 1, lines);
    EXPECT_TRUE(ended.silent);
    EXPECT_EQ(lines.size(), 1u);
    EXPECT_EQ(ended.code, 128 + SIGTERM);
}

TEST(Launch, says_what_could_not_be_started) {
    Ended const ended = launch({"/no/such/program"}, {}, 60, [](std::string const&) {});
    EXPECT_EQ(ended.code, 127);
    EXPECT_NE(ended.complaints.find("/no/such/program"), std::string::npos);
}

}  // namespace
}  // namespace sluice::cli
