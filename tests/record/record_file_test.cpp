// SPDX-License-Identifier: BSD-3-Clause
#include "record/record_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "record/jobs_folder.hpp"
#include "support/limits/process_limit.hpp"

namespace sluice::record {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RecordFiles : public ::testing::Test {
  protected:
    RecordFiles() {
        std::string folder = ::testing::TempDir() + "sluice-record-XXXXXX";
        if (mkdtemp(folder.data()) != nullptr) folder_ = folder;
    }
    ~RecordFiles() override { fs::remove_all(folder_); }

    RecordFile claim() const { return {kernel::Folder::named(folder_), "node-job-1.sluice"}; }
    std::string path(std::string const& more = "") const { return folder_ + "/node-job-1" + more + ".sluice"; }

    static std::string bytes_of(std::string const& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }

    std::string folder_;
};

TEST_F(RecordFiles, ranks_of_a_job_share_one) {
    RecordFile first = claim();
    RecordFile second = claim();
    ASSERT_TRUE(first.in_file()) << first.why();
    EXPECT_EQ(second.path(), path());
    EXPECT_EQ(first.node().claimed, 2u);
    EXPECT_EQ(first.node().arrived, 2u);
    EXPECT_NE(&first.record(), &second.record());
}

TEST_F(RecordFiles, ranks_of_a_node_form_a_ring) {
    RecordFile files[] = {claim(), claim(), claim()};
    for (std::size_t i = 0; i < 3; ++i) {
        RankHead* const next = files[i].next_head();
        ASSERT_NE(next, nullptr);
        EXPECT_EQ(files[i].next_head(), next) << "it is mapped once";
        next->end_seen = {1, static_cast<std::int32_t>(i), 0};
    }
    EXPECT_EQ(files[0].record().head.end_seen.status, 2);
    EXPECT_EQ(files[1].record().head.end_seen.status, 0);
    EXPECT_EQ(files[2].record().head.end_seen.status, 1);
}

TEST_F(RecordFiles, a_rank_that_is_alone_or_whose_file_is_another_one_now_has_no_next) {
    EXPECT_EQ(RecordFile().next_head(), nullptr);
    RecordFile alone = claim();
    EXPECT_EQ(alone.next_head(), nullptr);
    RecordFile const other = claim();
    fs::copy_file(path(), path() + ".copy");
    fs::permissions(path() + ".copy", fs::perms::owner_read | fs::perms::owner_write);
    fs::rename(path() + ".copy", path());
    EXPECT_EQ(alone.next_head(), nullptr);
}

TEST_F(RecordFiles, a_later_job_of_the_same_name_begins_another) {
    RecordFile earlier = claim();
    earlier.record().head.world_rank = 5;
    earlier.node().decision = 1;  // all ranks of that job were in the file; this is not so in the next job
    RecordFile one = claim();
    RecordFile two = claim();
    EXPECT_EQ(one.path(), path("-2"));
    EXPECT_EQ(two.path(), one.path());
    EXPECT_EQ(one.node().claimed, 2u);
    EXPECT_EQ(one.node().decision, 0u);
    one.node().decision = 2;
    EXPECT_EQ(claim().path(), path("-3"));
    EXPECT_EQ(earlier.node().claimed, 1u);
    EXPECT_EQ(earlier.record().head.world_rank, 5u);
}

TEST_F(RecordFiles, a_job_whose_first_rank_ended_before_a_decision_is_over) {
    RecordFile earlier = claim();
    --earlier.node().first.started;  // a process of that number which has ended
    EXPECT_EQ(claim().path(), path("-2"));
}

TEST_F(RecordFiles, a_job_that_finds_each_name_taken_keeps_its_record_in_memory_and_says_why) {
    for (int jobs = 0; jobs < 99; ++jobs) {
        RecordFile earlier = claim();
        ASSERT_TRUE(earlier.in_file()) << earlier.why();
        earlier.node().decision = 1;
    }
    RecordFile const one_more = claim();
    EXPECT_FALSE(one_more.shares_node());
    EXPECT_EQ(one_more.why(), path() + ": it belongs to another job");
}

TEST_F(RecordFiles, a_rank_that_may_not_make_the_file_larger_shares_its_head_and_says_why) {
    RecordFile const first = claim();
    tests::FileSizeLimit const limit(600'000);  // SIGXFSZ would end this process
    RecordFile const second = claim();
    EXPECT_TRUE(second.shares_node());
    EXPECT_FALSE(second.in_file());
    EXPECT_EQ(second.why(), path() + ": File too large (RLIMIT_FSIZE), and a record has 500 KiB");
    EXPECT_EQ(first.node().arrived, 2u);
}

TEST_F(RecordFiles, a_rank_that_may_make_no_file_keeps_its_record_in_memory_and_says_why) {
    tests::FileSizeLimit const limit(1000);
    RecordFile const file = claim();
    EXPECT_FALSE(file.shares_node());
    EXPECT_EQ(file.why(), path() + ": File too large (RLIMIT_FSIZE)");
    EXPECT_FALSE(fs::exists(path()));
}

TEST_F(RecordFiles, a_file_of_another_version_is_left_as_it_is) {
    {
        RecordFile other = claim();
        ++other.node().format;
    }
    std::string const before = bytes_of(path());
    EXPECT_EQ(claim().path(), path("-2"));
    EXPECT_EQ(bytes_of(path()), before);
}

TEST_F(RecordFiles, what_another_user_may_have_put_there_is_neither_written_nor_mapped) {
    std::string const target = folder_ + "/private";
    std::string const words(8192, 'x');
    std::ofstream(target) << words;
    chmod(target.c_str(), 0600);
    auto const claims_another = [&](char const* what) {
        EXPECT_EQ(claim().path(), path("-2")) << what;
        EXPECT_EQ(bytes_of(target), words) << what;
        fs::remove(path());
        fs::remove(path("-2"));
    };
    fs::create_symlink(target, path());
    claims_another("a link");
    fs::create_symlink(folder_ + "/new", path());
    claims_another("a link to nothing");
    EXPECT_FALSE(fs::exists(folder_ + "/new"));
    fs::create_hard_link(target, path());
    claims_another("a second name of a file");
    ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
    claims_another("a pipe");
    fs::create_directory(path());
    claims_another("a folder");
    fs::copy_file(target, path());
    claims_another("a file of other contents");
    std::ofstream(path()) << "";
    chmod(path().c_str(), 0666);
    claims_another("a file to which others have rights");
    if (geteuid() != 0) return;
    std::ofstream(path()) << "";
    chmod(path().c_str(), 0600);
    ASSERT_EQ(chown(path().c_str(), 65534, 65534), 0);
    claims_another("a file of another user");
}

TEST_F(RecordFiles, ranks_agree_although_a_taken_name_becomes_free_between_them) {
    ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
    RecordFile const first = claim();
    fs::remove(path());
    RecordFile const second = claim();
    EXPECT_EQ(first.path(), path("-2"));
    EXPECT_EQ(second.path(), path("-2"));
    EXPECT_EQ(second.node().arrived, 2u);
}

TEST_F(RecordFiles, a_renamed_file_is_not_that_of_the_job_whose_name_it_has_now) {
    RecordFile other(kernel::Folder::named(folder_), "node-other-1.sluice");
    fs::rename(other.path(), path());
    RecordFile const own = claim();
    EXPECT_EQ(own.path(), path("-2"));
    EXPECT_EQ(other.node().arrived, 1u);
}

TEST_F(RecordFiles, only_its_own_file_is_removed_at_the_end) {
    RecordFile const file = claim();
    fs::rename(path(), folder_ + "/kept");
    std::ofstream(path()) << "another file";
    file.remove();
    EXPECT_TRUE(fs::exists(path()));
    fs::remove(path());
    fs::rename(folder_ + "/kept", path());
    file.remove();
    EXPECT_FALSE(fs::exists(folder_)) << "the folder was empty";
}

class JobsFolders : public RecordFiles {
  protected:
    JobsFolders() {
        before_ = std::getenv("TMPDIR") != nullptr ? std::getenv("TMPDIR") : "";
        setenv("TMPDIR", folder_.c_str(), 1);
        first_ = folder_ + "/sluice-" + std::to_string(geteuid());
    }
    ~JobsFolders() override {
        if (before_.empty())
            unsetenv("TMPDIR");
        else
            setenv("TMPDIR", before_.c_str(), 1);
    }

    std::string before_;
    std::string first_;
};

TEST_F(JobsFolders, are_of_this_user_alone) {
    JobsFolder const jobs = open_folder_of_jobs(folder_);
    EXPECT_EQ(jobs.folder.path(), first_);
    EXPECT_EQ(jobs.why_other, "");
    EXPECT_EQ(fs::status(first_).permissions(), fs::perms::owner_all);
}

TEST_F(JobsFolders, have_another_name_if_the_first_is_taken_and_keep_it_while_it_is_there) {
    fs::create_directory(folder_ + "/elsewhere");
    fs::create_directory_symlink(folder_ + "/elsewhere", first_);
    JobsFolder const jobs = open_folder_of_jobs(folder_);
    EXPECT_EQ(jobs.folder.path(), first_ + "-2");
    EXPECT_EQ(jobs.why_other, first_ + ": it is a symbolic link");
    fs::remove(first_);
    EXPECT_EQ(open_folder_of_jobs(folder_).folder.path(), first_ + "-2");
    EXPECT_EQ(folders_of_jobs(folder_), std::vector<std::string>{first_ + "-2"});
}

TEST_F(JobsFolders, are_below_TMPDIR_first_and_below_no_folder_twice) {
    EXPECT_EQ(temporary_folders(), (std::vector<std::string>{folder_, "/tmp", "/dev/shm"}));
    setenv("TMPDIR", "/dev/shm", 1);
    EXPECT_EQ(temporary_folders(), (std::vector<std::string>{"/dev/shm", "/tmp"}));
    unsetenv("TMPDIR");
    EXPECT_EQ(temporary_folders(), (std::vector<std::string>{"/tmp", "/dev/shm"}));
}

TEST_F(JobsFolders, stay_where_they_are_if_the_program_goes_to_another_folder) {
    fs::path const before = fs::current_path();
    fs::current_path(folder_);
    setenv("TMPDIR", "relative", 1);
    std::string const named = temporary_folders().front();
    fs::current_path(before);
    EXPECT_EQ(named, folder_ + "/relative");
}

TEST_F(JobsFolders, are_none_if_all_names_are_taken) {
    for (int i = 1; i <= 20; ++i)
        std::ofstream(i == 1 ? first_ : first_ + "-" + std::to_string(i)) << "x";
    JobsFolder const jobs = open_folder_of_jobs(folder_);
    EXPECT_FALSE(jobs.folder.is_open());
    EXPECT_EQ(jobs.folder.why(), "it is a file");
}

}  // namespace
}  // namespace sluice::record
