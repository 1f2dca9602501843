// SPDX-License-Identifier: BSD-3-Clause
/// The numbers that descriptors of Sluice have, and files that are kept under them.
#include "kernel/files/descriptor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "kernel/files/kept_file.hpp"
#include "kernel/files/read_text.hpp"
#include "support/limits/descriptors.hpp"

namespace sluice::kernel {
namespace {

using tests::DescriptorLimit;
using tests::open_descriptors;

/// A file of the kernel's kind: its text is read anew by each look.
class DescriptorTest : public testing::Test {
  protected:
    void write(std::string const& text) const { std::ofstream(path_) << text; }
    std::string read(KeptFile const& file) {
        std::array<char, 64> room;
        return std::string(file.read(room));
    }
    /// The one descriptor that is open now and was not before.
    int added() const {
        std::set<int> now = open_descriptors();
        for (int const number : before_)
            now.erase(number);
        EXPECT_EQ(now.size(), 1U);
        return now.empty() ? -1 : *now.begin();
    }
    ~DescriptorTest() override { std::filesystem::remove(path_); }

    std::string const path_ = testing::TempDir() + "sluice-descriptor-" + std::to_string(getpid());
    std::set<int> const before_ = open_descriptors();
};

bool is_closed_on_exec(int number) {
    return (fcntl(number, F_GETFD) & FD_CLOEXEC) != 0;
}

TEST_F(DescriptorTest, has_never_the_number_of_a_standard_stream) {
    int const input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    close(STDIN_FILENO);
    {
        Descriptor const opened = above_standard(open("/dev/null", O_RDONLY | O_CLOEXEC));
        EXPECT_GT(opened.get(), STDERR_FILENO);
        EXPECT_TRUE(is_closed_on_exec(opened.get()));
        EXPECT_EQ(fcntl(STDIN_FILENO, F_GETFD), -1) << "and gives it free";
    }
    if (input >= 0) {
        dup2(input, STDIN_FILENO);
        close(input);
    }
    errno = ENOENT;
    EXPECT_FALSE(above_standard(-1).is_open());
    EXPECT_EQ(errno, ENOENT);
}

TEST_F(DescriptorTest, that_stays_open_is_far_from_the_numbers_that_open_gives) {
    DescriptorLimit const limit(600);
    int const next = dup(STDOUT_FILENO);
    close(next);
    Descriptor const kept = out_of_the_way(open("/dev/null", O_RDONLY | O_CLOEXEC));
    EXPECT_GE(kept.get(), 300);
    EXPECT_LT(kept.get(), 310);
    EXPECT_TRUE(is_closed_on_exec(kept.get()));
    EXPECT_EQ(added(), kept.get());
    int const again = dup(STDOUT_FILENO);
    close(again);
    EXPECT_EQ(again, next);
}

TEST_F(DescriptorTest, stays_open_only_under_a_limit_that_leaves_room_and_not_higher_than_needed) {
    {
        DescriptorLimit const limit(k_least_limit_to_keep - 1);
        EXPECT_FALSE(out_of_the_way(open("/dev/null", O_RDONLY | O_CLOEXEC)).is_open());
        EXPECT_EQ(errno, EMFILE);
        EXPECT_EQ(open_descriptors(), before_);
    }
    rlimit all{};
    getrlimit(RLIMIT_NOFILE, &all);
    DescriptorLimit const limit(all.rlim_max);
    EXPECT_LT(out_of_the_way(open("/dev/null", O_RDONLY | O_CLOEXEC)).get(), 600);
}

TEST_F(DescriptorTest, of_a_file_that_is_not_kept_is_open_for_a_look_only) {
    write("1 ");
    KeptFile const file(path_);
    EXPECT_EQ(read(file), "1 ");
    EXPECT_EQ(file.number(), 1U);
    std::filesystem::remove(path_);
    errno = 0;
    EXPECT_EQ(read(file), "");
    EXPECT_EQ(errno, ENOENT);
    EXPECT_EQ(whole_text(path_), "");
    write(std::string(10'000, 'x'));
    EXPECT_EQ(whole_text(path_), std::string(10'000, 'x'));
    EXPECT_EQ(open_descriptors(), before_);
}

TEST_F(DescriptorTest, of_a_kept_file_is_read_while_no_other_is_free) {
    write("1 ");
    KeptFile kept(path_);
    KeptFile const opened(path_);
    kept.keep();
    write("2 ");
    DescriptorLimit const limit(3);
    EXPECT_EQ(read(kept), "2 ");
    EXPECT_EQ(read(opened), "");
    EXPECT_EQ(errno, EMFILE);
}

TEST_F(DescriptorTest, of_a_kept_file_that_became_the_programs_is_neither_read_nor_closed) {
    for (bool const lets_go : {true, false}) {
        write("ours");
        std::string const theirs = path_ + "-theirs";
        std::ofstream(theirs) << "theirs";
        int number = -1;
        {
            KeptFile file(path_);
            file.keep();
            number = added();
            Descriptor const data(open(theirs.c_str(), O_RDONLY));
            ASSERT_EQ(dup2(data.get(), number), number);
            if (!lets_go) {
                EXPECT_EQ(read(file), "ours");
            }
            file.let_go();
            EXPECT_EQ(read(file), "ours");
        }
        struct stat status {};
        EXPECT_EQ(fstat(number, &status), 0);
        EXPECT_EQ(lseek(number, 0, SEEK_CUR), 0);
        close(number);
        std::filesystem::remove(theirs);
    }
}

TEST_F(DescriptorTest, of_a_kept_file_is_closed_once) {
    write("ours");
    {
        KeptFile file(path_);
        file.keep();
        file.keep();
        EXPECT_TRUE(is_closed_on_exec(added()));
        file.let_go();
        EXPECT_EQ(open_descriptors(), before_);
        file.keep();
        close(added());
        EXPECT_EQ(read(file), "ours");
    }
    EXPECT_EQ(open_descriptors(), before_);
}

TEST_F(DescriptorTest, of_a_thread_with_a_table_of_its_own_is_not_seen_by_the_others) {
    write("ours");
    KeptFile file(path_);
    file.keep();
    int const kept = added();
    std::thread([&] {
        ASSERT_FALSE(has_left_table_of_process());
        ASSERT_EQ(leave_table_of_process(), 0);
        EXPECT_TRUE(has_left_table_of_process());
        EXPECT_TRUE(open_descriptors().empty());
        // The number means another file here, and the file is kept for the others all the same.
        int const foreign = open("/dev/null", O_RDONLY | O_CLOEXEC);
        dup2(foreign, kept);
        EXPECT_EQ(read(file), "ours");
    }).join();
    EXPECT_FALSE(has_left_table_of_process());
    EXPECT_EQ(added(), kept);
    DescriptorLimit const limit(3);
    EXPECT_EQ(read(file), "ours");
}

}  // namespace
}  // namespace sluice::kernel
