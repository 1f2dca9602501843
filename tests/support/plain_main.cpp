/// main of every test that needs no MPI.
#include <gtest/gtest.h>

#include "support/skipped_cases.hpp"

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    sluice::tests::SkippedCases skipped;
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    listeners.Append(&skipped);
    int const code = RUN_ALL_TESTS();
    listeners.Release(&skipped);
    if (code == 0) skipped.tell();
    return code;
}
