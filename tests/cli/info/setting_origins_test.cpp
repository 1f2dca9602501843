// SPDX-License-Identifier: BSD-3-Clause
#include "cli/info/setting_origins.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "sluice/error.hpp"

namespace sluice::cli {
namespace {

SettingOrigin named(std::vector<SettingOrigin> const& origins, std::string const& name) {
    for (SettingOrigin const& origin : origins)
        if (origin.row.name == name) return origin;
    throw std::runtime_error("no setting " + name);
}

class SettingOrigins : public testing::Test {
  protected:
    SettingOrigins() { setenv("SLUICE_STAGING", "4MiB", 1); }
    ~SettingOrigins() override { unsetenv("SLUICE_STAGING"); }
};

TEST_F(SettingOrigins, are_told_for_every_setting) {
    EXPECT_EQ(setting_origins({}).size(), setting_rows().size());
}

TEST_F(SettingOrigins, tell_default_environment_and_option) {
    std::vector<SettingOrigin> const origins = setting_origins({{"strategy", "parking"}});
    EXPECT_EQ(named(origins, "memory").origin, "default");
    EXPECT_EQ(named(origins, "staging").origin, "environment");
    EXPECT_EQ(named(origins, "staging").value, "4MiB");
    EXPECT_EQ(named(origins, "strategy").origin, "option");
    EXPECT_EQ(named(origins, "strategy").value, "parking");
}

TEST_F(SettingOrigins, let_an_option_win_over_the_environment) {
    SettingOrigin const staging = named(setting_origins({{"staging", "8MiB"}}), "staging");
    EXPECT_EQ(staging.origin, "option");
    EXPECT_EQ(staging.value, "8MiB");
}

TEST_F(SettingOrigins, refuse_what_a_setting_cannot_be) {
    EXPECT_THROW(setting_origins({{"staging", "1"}}), Error);
    EXPECT_THROW(setting_origins({{"stagging", "1MiB"}}), Error);
}

TEST_F(SettingOrigins, write_ranges_as_they_are_read) {
    EXPECT_EQ(range_of(named(setting_origins({}), "staging").row), "4KiB … 1TiB");
    EXPECT_EQ(range_of(named(setting_origins({}), "outstanding_requests").row), "4 … 4096");
}

}  // namespace
}  // namespace sluice::cli
