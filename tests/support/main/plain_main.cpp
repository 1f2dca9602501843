// SPDX-License-Identifier: BSD-3-Clause
/// The main function of every test that needs no MPI.
#include <gtest/gtest.h>

#include <string>

#include "support/main/skipped_cases.hpp"
#include "support/main/watchdog.hpp"

namespace {

class TellWatchdog : public testing::EmptyTestEventListener {
    void OnTestStart(testing::TestInfo const& test) override {
        sluice::tests::watchdog_sees(std::string(test.test_suite_name()) + "." + test.name());
    }
};

}  // namespace

int main(int argc, char** argv) {
    sluice::tests::start_watchdog(0, 1, {});
    testing::InitGoogleTest(&argc, argv);
    sluice::tests::SkippedCases skipped;
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    listeners.Append(new TellWatchdog);
    listeners.Append(&skipped);
    int const code = RUN_ALL_TESTS();
    listeners.Release(&skipped);
    if (code == 0) skipped.tell();
    return code;
}
