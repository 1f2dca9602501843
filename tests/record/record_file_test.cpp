// SPDX-License-Identifier: BSD-3-Clause
#include "record/record_file.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace sluice::report {
namespace {

class RecordFiles : public ::testing::Test {
  protected:
    RecordFiles() {
        std::string folder = ::testing::TempDir() + "sluice-record-XXXXXX";
        if (mkdtemp(folder.data()) != nullptr) folder_ = folder;
    }
    ~RecordFiles() override { std::filesystem::remove_all(folder_); }

    std::string path() const { return folder_ + "/node-job-1.sluice"; }

    std::string folder_;
};

TEST_F(RecordFiles, ranks_of_a_job_share_one) {
    record::RecordFile first(path());
    record::RecordFile second(path());
    ASSERT_TRUE(first.in_file()) << first.why();
    EXPECT_EQ(second.path(), path());
    EXPECT_EQ(first.node().claimed, 2u);
    EXPECT_NE(&first.record(), &second.record());
}

TEST_F(RecordFiles, a_later_job_of_the_same_name_begins_another) {
    record::RecordFile earlier(path());
    earlier.record().head.world_rank = 5;
    earlier.node().decision = 1;  // all ranks of that job were in the file; this is not so in the next job
    record::RecordFile one(path());
    record::RecordFile two(path());
    EXPECT_EQ(one.path(), folder_ + "/node-job-1-2.sluice");
    EXPECT_EQ(two.path(), one.path());
    EXPECT_EQ(one.node().claimed, 2u);
    EXPECT_EQ(one.node().decision, 0u);
    one.node().decision = 2;
    EXPECT_EQ(record::RecordFile(path()).path(), folder_ + "/node-job-1-3.sluice");
    EXPECT_EQ(earlier.node().claimed, 1u);
    EXPECT_EQ(earlier.record().head.world_rank, 5u);
}

TEST_F(RecordFiles, a_job_that_finds_each_name_taken_keeps_its_record_in_memory_and_says_why) {
    for (int jobs = 0; jobs < 99; ++jobs) {
        record::RecordFile earlier(path());
        ASSERT_TRUE(earlier.in_file()) << earlier.why();
        earlier.node().decision = 1;
    }
    record::RecordFile const one_more(path());
    EXPECT_FALSE(one_more.in_file());
    EXPECT_EQ(one_more.why(), folder_ + "/node-job-1-99.sluice: it belongs to another job");
}

TEST_F(RecordFiles, a_file_of_another_version_is_left_as_it_is) {
    {
        record::RecordFile other(path());
        ++other.node().format;
    }
    record::RecordFile const own(path());
    EXPECT_FALSE(own.in_file());
    EXPECT_EQ(own.why(), path() + ": File exists");
    EXPECT_EQ(std::filesystem::file_size(path()), sizeof(record::NodeHeader) + sizeof(record::RankRecord));
}

}  // namespace
}  // namespace sluice::report
