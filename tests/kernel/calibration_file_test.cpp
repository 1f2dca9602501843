// SPDX-License-Identifier: BSD-3-Clause
/// Calibrations in a cache folder of their own: what is written is read, and nothing else is.
#include "kernel/calibration/calibration_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

namespace sluice::kernel {
namespace {

Calibration some_calibration() {
    return {.roomy = {.token = {1e-7F, 2e-6F, 3e-5F}, .packed = {4e-8F, 5e-7F, 6e-6F}},
            .crowded = {.token = {7e-7F, 8e-6F, 9e-5F}, .packed = {1.5e-8F, 2.5e-7F, 3.5e-6F}}};
}

class CalibrationFile : public testing::Test {
  protected:
    CalibrationFile() {
        std::string pattern = std::filesystem::temp_directory_path() / "sluice-cache-XXXXXX";
        cache_ = mkdtemp(pattern.data());
        setenv("XDG_CACHE_HOME", cache_.c_str(), 1);
    }
    ~CalibrationFile() override { std::filesystem::remove_all(cache_); }

    std::string path() const { return calibration_folder() + "/" + calibration_name(key_); }
    std::string text() const {
        std::ifstream file(path());
        std::ostringstream all;
        all << file.rdbuf();
        return all.str();
    }
    void write(std::string const& text) const { std::ofstream(path(), std::ios::trunc) << text; }
    void expect_ignored(std::string const& because) const {
        ReadCalibration const read = read_calibration(key_);
        EXPECT_FALSE(read.calibration);
        EXPECT_NE(read.why.find(because), std::string::npos) << read.why;
        EXPECT_TRUE(read.why.starts_with(cache_)) << read.why;
    }

    std::string cache_;
    CalibrationKey const key_ = calibration_key("An MPI 1.2.3");
};

TEST_F(CalibrationFile, is_read_as_it_was_written) {
    EXPECT_FALSE(read_calibration(key_).calibration);
    EXPECT_EQ(read_calibration(key_).why, "") << "nothing is said of a file that is not there";
    ASSERT_EQ(write_calibration(key_, some_calibration()), "");
    ReadCalibration const read = read_calibration(key_);
    ASSERT_TRUE(read.calibration) << read.why;
    EXPECT_EQ(*read.calibration, some_calibration());
    EXPECT_EQ(read.why, "");
}

TEST_F(CalibrationFile, takes_the_place_of_the_one_before_and_leaves_nothing_else) {
    ASSERT_EQ(write_calibration(key_, some_calibration()), "");
    Calibration other = some_calibration();
    other.roomy.token[0] = 9e-9F;
    ASSERT_EQ(write_calibration(key_, other), "");
    EXPECT_EQ(read_calibration(key_).calibration, other);
    std::filesystem::directory_iterator const files(calibration_folder());
    EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_F(CalibrationFile, names_no_host) {
    ASSERT_EQ(write_calibration(key_, some_calibration()), "");
    char host[256] = {};
    ASSERT_EQ(gethostname(host, sizeof host - 1), 0);
    EXPECT_EQ(text().find(host), std::string::npos);
    EXPECT_EQ(path().find(host), std::string::npos);
}

TEST_F(CalibrationFile, of_another_mpi_is_another_file) {
    ASSERT_EQ(write_calibration(key_, some_calibration()), "");
    CalibrationKey const other = calibration_key("An MPI 1.2.4");
    EXPECT_NE(calibration_name(key_), calibration_name(other));
    EXPECT_FALSE(read_calibration(other).calibration);
}

TEST_F(CalibrationFile, of_another_machine_is_ignored) {
    ASSERT_EQ(write_calibration(key_, some_calibration()), "");
    CalibrationKey other = key_;
    other.cores += 1;
    write(text_of(other, some_calibration()));
    expect_ignored("it is of another machine or MPI");
}

TEST_F(CalibrationFile, is_ignored_whichever_byte_is_damaged) {
    ASSERT_EQ(write_calibration(key_, some_calibration()), "");
    std::string const whole = text();
    for (std::size_t i = 0; i < whole.size(); ++i) {
        std::string damaged = whole;
        damaged[i] = damaged[i] == '7' ? '8' : '7';
        Calibration calibration;
        EXPECT_NE(parse(damaged, key_, calibration), "") << "byte " << i;
        EXPECT_NE(parse(std::string_view(whole).substr(0, i), key_, calibration), "") << "cut at byte " << i;
        EXPECT_EQ(calibration, Calibration());
    }
    write(whole.substr(0, whole.size() / 2));
    expect_ignored("it is damaged");
    write("");
    expect_ignored("it is damaged");
}

TEST_F(CalibrationFile, with_figures_that_cannot_be_is_ignored) {
    ASSERT_EQ(write_calibration(key_, some_calibration()), "");
    for (float const wrong :
         {0.0F, -1e-6F, 2.0F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
        Calibration calibration = some_calibration();
        calibration.crowded.packed[1] = wrong;
        write(text_of(key_, calibration));
        expect_ignored("it is damaged");
    }
}

TEST_F(CalibrationFile, that_is_a_link_is_not_followed) {
    ASSERT_EQ(write_calibration(key_, some_calibration()), "");
    std::filesystem::rename(path(), path() + ".real");
    std::filesystem::create_symlink(path() + ".real", path());
    expect_ignored("symbolic link");
    // Writing replaces the link, not what it leads to.
    Calibration other = some_calibration();
    other.roomy.token[0] = 9e-9F;
    ASSERT_EQ(write_calibration(key_, other), "");
    EXPECT_EQ(read_calibration(key_).calibration, other);
    write(text_of(key_, other));
    std::ifstream real(path() + ".real");
    std::ostringstream text_of_real;
    text_of_real << real.rdbuf();
    EXPECT_EQ(text_of_real.str(), text_of(key_, some_calibration()));
}

TEST_F(CalibrationFile, that_others_can_write_to_is_ignored) {
    ASSERT_EQ(write_calibration(key_, some_calibration()), "");
    ASSERT_EQ(chmod(path().c_str(), 0622), 0);
    expect_ignored("other users may write to it");
    ASSERT_EQ(chmod(path().c_str(), 0600), 0);
    ASSERT_EQ(chmod(calibration_folder().c_str(), 0777), 0);
    expect_ignored("other users may write into it");
    EXPECT_NE(write_calibration(key_, some_calibration()), "");
}

TEST_F(CalibrationFile, of_another_user_is_ignored) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
    ASSERT_EQ(write_calibration(key_, some_calibration()), "");
    ASSERT_EQ(chown(path().c_str(), 12345, 12345), 0);
    expect_ignored("it belongs to user 12345");
}

TEST_F(CalibrationFile, needs_a_folder_that_is_named_in_full) {
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", cache_.c_str(), 1);
    EXPECT_EQ(calibration_folder(), cache_ + "/.cache/sluice");
    ASSERT_EQ(write_calibration(key_, some_calibration()), "");
    EXPECT_TRUE(read_calibration(key_).calibration);
    setenv("HOME", "", 1);
    EXPECT_EQ(calibration_folder(), "");
    EXPECT_FALSE(read_calibration(key_).calibration);
    EXPECT_NE(write_calibration(key_, some_calibration()), "");
}

}  // namespace
}  // namespace sluice::kernel
