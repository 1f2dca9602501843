// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/files/patient_write.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>

#include "kernel/files/descriptor.hpp"
#include "kernel/files/without_signals.hpp"
#include "support/limits/process_limit.hpp"

namespace sluice::kernel {
namespace {

constexpr std::chrono::milliseconds k_moment{20};

struct Pipe {
    Pipe() {
        int ends[2];
        if (pipe(ends) != 0) return;
        reader = Descriptor(ends[0]);
        writer = Descriptor(ends[1]);
    }
    Descriptor reader;
    Descriptor writer;
};

void fill(int pipe) {
    int const flags = fcntl(pipe, F_GETFL);
    fcntl(pipe, F_SETFL, flags | O_NONBLOCK);
    std::array<char, 4096> const page{};
    while (write(pipe, page.data(), page.size()) > 0) {
    }
    fcntl(pipe, F_SETFL, flags);
}

bool sigpipe_is_pending() {
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1;
}

TEST(PatientWrite, reaches_a_reader) {
    Pipe const pipe;
    EXPECT_TRUE(write_patiently(pipe.writer.get(), "hello", k_moment));
    std::array<char, 8> got{};
    EXPECT_EQ(read(pipe.reader.get(), got.data(), got.size()), 5);
    EXPECT_EQ(std::string(got.data()), "hello");
}

TEST(PatientWrite, raises_no_signal_if_the_reader_has_gone) {
    std::signal(SIGPIPE, SIG_DFL);  // which would end this process
    Pipe pipe;
    pipe.reader.reset();
    EXPECT_FALSE(write_patiently(pipe.writer.get(), "hello", k_moment));
    EXPECT_FALSE(sigpipe_is_pending());
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    close(ends[0]);
    EXPECT_FALSE(write_patiently(ends[1], "hello", k_moment));
    close(ends[1]);
}

TEST(PatientWrite, keeps_a_signal_that_the_program_has_pending) {
    sigset_t sigpipe;
    sigemptyset(&sigpipe);
    sigaddset(&sigpipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe, nullptr);
    pthread_kill(pthread_self(), SIGPIPE);
    Pipe pipe;
    pipe.reader.reset();
    write_patiently(pipe.writer.get(), "hello", k_moment);
    EXPECT_TRUE(sigpipe_is_pending());
    int taken = 0;
    sigwait(&sigpipe, &taken);
    pthread_sigmask(SIG_UNBLOCK, &sigpipe, nullptr);
}

TEST(PatientWrite, writes_what_a_file_may_hold_and_goes_on_without_the_rest) {
    std::FILE* const file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    {
        tests::FileSizeLimit const limit(4);  // SIGXFSZ would end this process
        EXPECT_FALSE(write_patiently(fileno(file), "hello", k_moment));
    }
    struct stat status {};
    EXPECT_EQ(fstat(fileno(file), &status), 0);
    EXPECT_EQ(status.st_size, 4);
    std::fclose(file);
}

TEST(AllocateBlocks, is_an_error_where_a_file_may_not_grow) {
    std::FILE* const file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(allocate_blocks(fileno(file), 0, 8192), 0);
    tests::FileSizeLimit const limit(4096);
    EXPECT_EQ(allocate_blocks(fileno(file), 0, 8192), 0) << "it is as large already";
    EXPECT_EQ(allocate_blocks(fileno(file), 8192, 1), EFBIG);
    EXPECT_EQ(why_not_written(EFBIG), "File too large (RLIMIT_FSIZE)");
    std::fclose(file);
}

TEST(PatientWrite, gives_up_at_a_full_pipe_and_leaves_its_flags) {
    Pipe const pipe;
    fill(pipe.writer.get());
    EXPECT_FALSE(write_patiently(pipe.writer.get(), "hello", k_moment));
    EXPECT_EQ(fcntl(pipe.writer.get(), F_GETFL) & O_NONBLOCK, 0);
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    fill(ends[1]);
    EXPECT_FALSE(write_patiently(ends[1], "hello", k_moment));
    close(ends[0]);
    close(ends[1]);
}

TEST(PatientWrite, writes_all_of_a_text_that_is_longer_than_a_pipe) {
    Pipe pipe;
    std::string const text(1 << 20, 'x');
    pid_t const child = fork();
    if (child == 0) {
        pipe.reader.reset();
        _exit(write_patiently(pipe.writer.get(), text, k_patience) ? 0 : 1);
    }
    pipe.writer.reset();
    std::size_t got = 0;
    std::array<char, 65536> part{};
    for (ssize_t n = 0; (n = read(pipe.reader.get(), part.data(), part.size())) > 0;)
        got += static_cast<std::size_t>(n);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(got, text.size());
}

}  // namespace
}  // namespace sluice::kernel
