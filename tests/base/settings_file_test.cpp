// SPDX-License-Identifier: BSD-3-Clause
#include "base/settings_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sluice/error.hpp"

namespace sluice::base {
namespace {

class SettingsFileTest : public testing::Test {
  protected:
    SettingsFileTest() {
        std::string pattern = std::filesystem::temp_directory_path() / "sluice-settings-XXXXXX";
        folder_ = mkdtemp(pattern.data());
    }
    ~SettingsFileTest() override { std::filesystem::remove_all(folder_); }

    std::string write(std::string const& text) const {
        std::ofstream(path()) << text;
        return path();
    }
    std::string path() const { return folder_ + "/settings"; }
    std::string refusal() const {
        try {
            read_settings_file(path());
        } catch (Error const& error) {
            EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
            return error.what();
        }
        return {};
    }

    std::string folder_;
};

TEST_F(SettingsFileTest, has_names_values_and_comments) {
    SettingsFile const file = read_settings_file(write("# mine\n\nstaging = 8MiB\r\n  strategy=token  \nreport =\n"));
    ASSERT_EQ(file.entries.size(), 3U);
    EXPECT_EQ(file.entries[0].name, "staging");
    EXPECT_EQ(file.entries[0].value, "8MiB");
    EXPECT_EQ(file.place_of(file.entries[0]), path() + ":3");
    EXPECT_EQ(file.entries[1].value, "token");
    EXPECT_EQ(file.entries[1].line, 4);
    EXPECT_EQ(file.entries[2].value, "");
}

TEST_F(SettingsFileTest, may_lack_the_last_end_of_line) {
    EXPECT_EQ(read_settings_file(write("tokens = 7")).entries.at(0).value, "7");
}

TEST_F(SettingsFileTest, is_refused_with_the_number_of_a_line_that_assigns_nothing) {
    write("tokens = 7\nstaging 8MiB\n");
    EXPECT_NE(refusal().find("line 2 is not 'name = value': 'staging 8MiB'"), std::string::npos) << refusal();
    write("= 7\n");
    EXPECT_NE(refusal().find("line 1"), std::string::npos) << refusal();
}

TEST_F(SettingsFileTest, that_is_missing_is_named) {
    EXPECT_NE(refusal().find(path()), std::string::npos) << refusal();
}

TEST_F(SettingsFileTest, is_not_a_pipe_on_which_the_process_would_wait) {
    ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
    EXPECT_NE(refusal().find("not a regular file"), std::string::npos) << refusal();
}

TEST_F(SettingsFileTest, is_small) {
    write(std::string(65 << 10, '#'));
    EXPECT_NE(refusal().find("larger than 64 KiB"), std::string::npos) << refusal();
}

}  // namespace
}  // namespace sluice::base
