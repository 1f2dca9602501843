// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/recent_keys.hpp"

#include <gtest/gtest.h>

namespace sluice::fetch {
namespace {

TEST(RecentKeys, remember_the_last_ones_and_forget_the_oldest) {
    RecentKeys<std::size_t> recent;
    std::size_t const k = RecentKeys<std::size_t>::k_remembered;
    EXPECT_FALSE(recent.contains(0));
    for (std::size_t name = 0; name < k; ++name)
        recent.remember(name);
    EXPECT_TRUE(recent.contains(0));
    EXPECT_TRUE(recent.contains(k - 1));
    for (std::size_t name = k; name < 3 * k; ++name) {
        recent.remember(name);
        EXPECT_FALSE(recent.contains(name - k)) << name;
        EXPECT_TRUE(recent.contains(name - k + 1)) << name;
        EXPECT_TRUE(recent.contains(name)) << name;
    }
}

}  // namespace
}  // namespace sluice::fetch
