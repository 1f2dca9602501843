// SPDX-License-Identifier: BSD-3-Clause
#include "report/read/left_behind.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <set>
#include <string>

#include "report/read/fate.hpp"
#include "report/records.hpp"

namespace sluice::report {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

constexpr std::uint64_t k_hour_us = 3'600'000'000;

enum class Who { living, gone, elsewhere };

class LeftBehindTest : public testing::Test {
  protected:
    void TearDown() override { fs::remove_all(folder_); }

    /// Writes a file of two ranks whose last sign of life is `hours_ago` hours old; only the second may not be gone.
    void leave(fs::path const& path, std::uint64_t hours_ago, Who second) {
        fs::create_directories(path.parent_path());
        std::ofstream file(path, std::ios::binary);
        record::NodeHeader header;
        header.magic = record::k_magic;
        header.format = record::k_format;
        header.record_bytes = sizeof(record::RankRecord);
        header.claimed = 2;
        file.write(reinterpret_cast<char const*>(&header), sizeof header);
        for (std::uint32_t rank = 0; rank < 2; ++rank) {
            RecordPointer const record = make_record(rank, 2, Story::flooded);
            record->head.start_unix_us = now_unix_us() - hours_ago * k_hour_us - record->head.now_us;
            record->head.process = kernel::this_process();
            if (rank == 0 || second == Who::gone) --record->head.process.started;
            if (rank == 1 && second == Who::elsewhere) ++record->head.process.machine;
            file.write(reinterpret_cast<char const*>(record.get()), sizeof(record::RankRecord));
        }
    }
    void leave_job(std::string const& name, std::uint64_t hours_ago, Who second = Who::gone) {
        leave(folder_ / name / "node-a-1.sluice", hours_ago, second);
        fs::last_write_time(folder_ / name, fs::file_time_type::clock::now() - std::chrono::hours(hours_ago));
    }
    std::set<std::string> names() const {
        std::set<std::string> found;
        for (fs::directory_entry const& entry : fs::directory_iterator(folder_))
            found.insert(entry.path().filename().string());
        return found;
    }

    fs::path folder_ = fresh_folder(testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(LeftBehindTest, the_last_four_jobs_stay_and_those_that_may_live) {
    for (std::uint64_t i = 1; i <= 7; ++i)
        leave_job("dead-" + std::to_string(i), i);
    leave_job("lives", 100, Who::living);
    leave_job("lives-and-is-old", 1000, Who::living);
    leave_job("elsewhere", 100, Who::elsewhere);
    leave_job("mine", 120);
    remove_old_jobs(folder_, folder_ / "mine");
    EXPECT_THAT(names(),
                ElementsAre("dead-1", "dead-2", "dead-3", "dead-4", "elsewhere", "lives", "lives-and-is-old", "mine"));
}

TEST_F(LeftBehindTest, nothing_stays_longer_than_a_week_but_what_lives) {
    leave_job("young", 167);
    leave_job("old", 169);
    leave_job("old-elsewhere", 169, Who::elsewhere);
    leave_job("old-and-lives", 169, Who::living);
    remove_old_jobs(folder_, "");
    EXPECT_THAT(names(), ElementsAre("old-and-lives", "young"));
}

TEST_F(LeftBehindTest, only_what_is_ours_is_removed) {
    leave_job("with-report", 300);
    std::ofstream(folder_ / "with-report/report.json") << "{}";
    std::ofstream(folder_ / "with-report/trace.json") << "{}";
    std::ofstream(folder_ / "with-report/report.html") << "x";
    leave_job("with-notes", 300);
    std::ofstream(folder_ / "with-notes/notes.txt") << "mine";
    fs::create_directories(folder_ / "starts-now");
    std::ofstream(folder_ / "a-file") << "x";
    for (char const* name : {"with-report", "with-notes"})
        fs::last_write_time(folder_ / name, fs::file_time_type::clock::now() - std::chrono::hours(300));
    fs::path const elsewhere = fresh_folder("elsewhere");
    leave(elsewhere / "node-a-1.sluice", 300, Who::gone);
    fs::create_directory_symlink(elsewhere, folder_ / "link");
    remove_old_jobs(folder_, "");
    EXPECT_THAT(names(), ElementsAre("a-file", "link", "starts-now", "with-notes"));
    EXPECT_TRUE(fs::exists(folder_ / "with-notes/notes.txt"));
    EXPECT_TRUE(fs::exists(elsewhere / "node-a-1.sluice")) << "what a link names is not ours to clean";
    fs::remove_all(elsewhere);
    remove_old_jobs(folder_ / "none", "");  // prints nothing
}

TEST_F(LeftBehindTest, of_a_report_one_earlier_job_of_the_node_stays) {
    leave(folder_ / "node-old-1.sluice", 3, Who::gone);
    leave(folder_ / "node-older-1.sluice", 400, Who::gone);
    leave(folder_ / "node-lives-1.sluice", 500, Who::living);
    leave(folder_ / "node-other-2.sluice", 500, Who::elsewhere);
    leave(folder_ / "node-mine-1.sluice", 0, Who::gone);
    std::ofstream(folder_ / "report.json") << "{}";
    remove_old_records(folder_, folder_ / "node-mine-1.sluice");
    EXPECT_THAT(names(), ElementsAre("node-lives-1.sluice", "node-mine-1.sluice", "node-old-1.sluice",
                                     "node-other-2.sluice", "report.json"));
}

TEST_F(LeftBehindTest, jobs_are_listed_the_last_first) {
    leave_job("b", 2);
    leave_job("a", 1);
    leave_job("c", 3, Who::living);
    std::vector<Remains> const jobs = jobs_left_in(folder_);
    ASSERT_EQ(jobs.size(), 3U);
    EXPECT_EQ(jobs[0].path.filename(), "a");
    EXPECT_EQ(jobs[1].path.filename(), "b");
    EXPECT_TRUE(jobs[1].gone && !jobs[1].alive);
    EXPECT_TRUE(jobs[2].alive && !jobs[2].gone);
    EXPECT_NEAR(static_cast<double>(jobs[1].last_sign_unix_us), static_cast<double>(now_unix_us() - 2 * k_hour_us),
                1e7);
}

}  // namespace
}  // namespace sluice::report
