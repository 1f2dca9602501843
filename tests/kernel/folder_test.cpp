// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/files/folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace sluice::kernel {
namespace {

namespace fs = std::filesystem;

class FolderTest : public ::testing::Test {
  protected:
    FolderTest() {
        std::string path = ::testing::TempDir() + "sluice-folder-XXXXXX";
        if (mkdtemp(path.data()) != nullptr) path_ = path;
    }
    ~FolderTest() override { fs::remove_all(path_); }

    std::string path_;
};

TEST_F(FolderTest, gives_a_new_file_a_new_name_each_time) {
    Folder const folder = Folder::named(path_);
    std::string first;
    std::string second;
    EXPECT_TRUE(folder.make_new("report-", first));
    EXPECT_TRUE(folder.make_new("report-", second));
    EXPECT_NE(first, second);
    EXPECT_EQ(folder.names("report-").size(), 2u);
}

TEST_F(FolderTest, is_used_by_its_descriptor_wherever_its_name_leads_later) {
    Folder const folder = Folder::named(path_);
    fs::rename(path_, path_ + "-moved");
    fs::create_directory(path_);
    EXPECT_TRUE(folder.open_own("file", Folder::Missing::is_made));
    EXPECT_FALSE(fs::exists(path_ + "/file"));
    EXPECT_TRUE(fs::exists(path_ + "-moved/file"));
    fs::remove_all(path_ + "-moved");
}

TEST_F(FolderTest, is_gone_when_it_was_removed) {
    Folder const folder = Folder::own(path_ + "/new");
    EXPECT_FALSE(folder.is_gone());
    fs::remove(path_ + "/new");
    EXPECT_TRUE(folder.is_gone());
    EXPECT_FALSE(Folder::own_if_there(path_ + "/new").is_gone()) << "it was never open";
}

TEST_F(FolderTest, of_this_user_is_neither_a_link_nor_open_to_others) {
    EXPECT_TRUE(Folder::own(path_ + "/new").is_open());
    fs::create_directory_symlink(path_ + "/new", path_ + "/link");
    EXPECT_EQ(Folder::own(path_ + "/link").why(), "it is a symbolic link");
    chmod((path_ + "/new").c_str(), 0770);
    EXPECT_EQ(Folder::own(path_ + "/new").why(), "other users may write into it");
    EXPECT_EQ(Folder::own_if_there(path_ + "/none").why(), "No such file or directory");
}

TEST_F(FolderTest, reads_regular_files_only_and_waits_for_nothing) {
    Folder const folder = Folder::named(path_);
    std::ofstream(path_ + "/file") << "x";
    EXPECT_TRUE(folder.open_to_read("file"));
    ASSERT_EQ(mkfifo((path_ + "/pipe").c_str(), 0600), 0);
    EXPECT_EQ(folder.open_to_read("pipe").why, "it is a named pipe");
    fs::create_symlink("file", path_ + "/link");
    EXPECT_EQ(folder.open_to_read("link").why, "it is a symbolic link");
    EXPECT_EQ(folder.open_to_read("none").why, "No such file or directory");
    EXPECT_EQ(Folder::named("/dev").open_to_read("null").why, "it is a device");
}

TEST_F(FolderTest, is_entered_although_another_process_keeps_its_lock) {
    Folder const folder = Folder::named(path_);
    Folder const again = Folder::named(path_);
    Folder::Turn const held(folder);
    Folder::Turn const late(again);  // ends
}

}  // namespace
}  // namespace sluice::kernel
