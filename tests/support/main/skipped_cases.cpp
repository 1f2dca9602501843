// SPDX-License-Identifier: BSD-3-Clause
#include "support/main/skipped_cases.hpp"

#include <cstdio>

namespace sluice::tests {

std::string reason_of_skip(testing::TestInfo const& test) {
    testing::TestResult const& result = *test.result();
    if (!result.Skipped()) return {};
    for (int i = 0; i < result.total_part_count(); ++i) {
        testing::TestPartResult const& part = result.GetTestPartResult(i);
        std::string const text = part.message();
        if (part.skipped() && !text.empty()) return text;
    }
    return "no reason given";
}

void SkippedCases::OnTestEnd(testing::TestInfo const& test) {
    if (std::string const reason = reason_of_skip(test); !reason.empty()) add(test, reason);
}

void SkippedCases::add(testing::TestInfo const& test, std::string const& reason) {
    lines_.push_back(std::string("skipped: ") + test.test_suite_name() + "." + test.name() + ": " + reason);
}

void SkippedCases::tell() const {
    for (std::string const& line : lines_)
        std::printf("%s\n", line.c_str());
    std::fflush(stdout);
}

}  // namespace sluice::tests
