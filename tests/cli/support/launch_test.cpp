// SPDX-License-Identifier: BSD-3-Clause
#include "cli/support/launch.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>

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

/// "SigIgn: …" and "SigBlk: …" of this process.
std::vector<std::string> own_signals() {
    std::vector<std::string> lines;
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("SigIgn") || line.starts_with("SigBlk")) lines.push_back(line);
    return lines;
}

TEST(Launch, leaves_signals_as_they_are_in_this_process_and_in_the_program) {
    constexpr std::array k_numbers{SIGHUP, SIGINT, SIGTERM, SIGCHLD, SIGPIPE};
    std::array<struct sigaction, k_numbers.size()> before{};
    for (std::size_t i = 0; i < k_numbers.size(); ++i) {
        sigaction(k_numbers[i], nullptr, &before[i]);
        std::signal(k_numbers[i], SIG_IGN);
    }
    sigset_t blocked;
    sigset_t mask;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, &mask);
    std::vector<std::string> const expected = own_signals();
    std::vector<std::string> lines;
    Ended const ended = launch({"grep", "-hE", "^Sig(Ign|Blk)", "/proc/self/status", "/no/such/file"}, {}, 60,
                               [&lines](std::string const& line) { lines.push_back(line); });
    EXPECT_EQ(own_signals(), expected);
    EXPECT_EQ(lines, expected);
    EXPECT_EQ(ended.code, 2) << "grep ends so for a file that is missing, and its end was waited for";
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    for (std::size_t i = 0; i < k_numbers.size(); ++i)
        sigaction(k_numbers[i], &before[i], nullptr);
}

TEST(Launch, gives_handlers_back) {
    struct sigaction before {};
    sigaction(SIGTERM, nullptr, &before);
    auto const handler = [](int) {};
    std::signal(SIGTERM, handler);
    std::vector<std::string> lines;
    run("true", 60, lines);
    struct sigaction after {};
    sigaction(SIGTERM, nullptr, &after);
    EXPECT_EQ(after.sa_handler, static_cast<void (*)(int)>(handler));
    sigaction(SIGTERM, &before, nullptr);
}

TEST(Launch, hands_on_lines_also_if_standard_streams_are_closed) {
    for (unsigned closed = 1; closed < 8; ++closed) {
        pid_t const child = fork();
        if (child == 0) {
            for (int number = 0; number < 3; ++number)
                if ((closed >> number & 1U) != 0) close(number);
            std::vector<std::string> lines;
            Ended const ended = run("echo one; echo wrong >&2", 60, lines);
            _exit(lines == std::vector<std::string>{"one"} && ended.complaints == "wrong\n" ? 0 : 1);
        }
        int status = 1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0) << "closed: " << closed;
    }
}

TEST(Launch, says_what_could_not_be_started) {
    Ended const ended = launch({"/no/such/program"}, {}, 60, [](std::string const&) {});
    EXPECT_EQ(ended.code, 127);
    EXPECT_NE(ended.complaints.find("/no/such/program"), std::string::npos);
}

}  // namespace
}  // namespace sluice::cli
