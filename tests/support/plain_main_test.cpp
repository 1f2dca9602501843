/// The main of tests without MPI, tested: these are run only where a skip or a failure is expected.
#include <gtest/gtest.h>

TEST(Broken, DISABLED_skips_itself) {
    GTEST_SKIP() << "lacks a thing";
}

TEST(Broken, DISABLED_fails) {
    FAIL();
}
