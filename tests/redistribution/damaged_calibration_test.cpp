// SPDX-License-Identifier: BSD-3-Clause
/// A damaged calibration is ignored, and rank 0 says so once.
#include <gtest/gtest.h>
#include <mpi.h>

#include <string>

#include "kernel/files/standard_error.hpp"
#include "redistribution/calibration_bed.hpp"
#include "redistribution/strategies/curves.hpp"

namespace sluice::redistribution {
namespace {

TEST(DamagedCalibration, is_ignored_and_told_once) {
    std::string text = kernel::text_of(tests::CalibrationBed::key(), {});
    text[text.size() / 2] ^= 1;
    tests::CalibrationBed const bed(0, text);
    testing::internal::CaptureStderr();
    kernel::remember_standard_error();
    for (bool const is_crowded : {false, true, false}) {
        Curves const curves = curves_of_this_machine(is_crowded);
        EXPECT_FALSE(curves.is_measured);
        EXPECT_GT(curves.token.front(), 0);
    }
    std::string const told = testing::internal::GetCapturedStderr();
    kernel::remember_standard_error();
    EXPECT_NE(told.find("it is damaged"), std::string::npos) << told;
    EXPECT_NE(told.find("built-in costs"), std::string::npos) << told;
    EXPECT_EQ(told.find("sluice: "), told.rfind("sluice: ")) << told;
}

}  // namespace
}  // namespace sluice::redistribution
