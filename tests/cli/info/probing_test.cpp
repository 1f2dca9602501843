// SPDX-License-Identifier: BSD-3-Clause
/// Memory whose amount is found by touching it.
#include "cli/info/probing.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::cli {
namespace {

TEST(Probing, finds_all_that_is_to_be_touched_where_there_is_enough) {
    Probing const found = probe_memory(32_MiB, std::chrono::seconds(60));
    EXPECT_EQ(found.end, Probing::End::all_touched) << text_of(found.end);
    EXPECT_EQ(found.touched, 32_MiB);
    EXPECT_GE(found.resident + 256_KiB, found.touched);
    EXPECT_LE(found.resident, found.touched + 256_KiB);
}

TEST(Probing, ends_where_a_resource_limit_does_and_leaves_nothing_behind) {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_DATA, &before), 0);
    rlimit tight = before;
    tight.rlim_cur = 128 << 20;
    if (before.rlim_cur != RLIM_INFINITY && before.rlim_cur < tight.rlim_cur)
        GTEST_SKIP() << "the limit is tighter already";
    ASSERT_EQ(setrlimit(RLIMIT_DATA, &tight), 0);
    Probing const found = probe_memory(1_GiB, std::chrono::seconds(60));
    ASSERT_EQ(setrlimit(RLIMIT_DATA, &before), 0);
    EXPECT_EQ(found.end, Probing::End::refused) << text_of(found.end);
    EXPECT_LE(found.touched, 128_MiB);
    EXPECT_GE(found.touched, 64_MiB);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "no child is left";
}

}  // namespace
}  // namespace sluice::cli
