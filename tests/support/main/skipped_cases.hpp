// SPDX-License-Identifier: BSD-3-Clause
/// Tells what a program skipped. ctest counts a program as passed when one of its cases was skipped; by the lines that
/// this prints it reports the program as skipped (SKIP_REGULAR_EXPRESSION in SluiceTest.cmake).
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::tests {

/// Why the case skipped itself; empty when it did not.
std::string reason_of_skip(testing::TestInfo const& test);

/// Collects during the run. What it knows must be told at the very end, and only when nothing failed: ctest takes a
/// program with such a line for skipped, whatever its exit code is.
class SkippedCases : public testing::EmptyTestEventListener {
  public:
    void OnTestEnd(testing::TestInfo const& test) override;
    void add(testing::TestInfo const& test, std::string const& reason);
    /// One line for each case, "skipped: Suite.case: reason".
    void tell() const;

  private:
    std::vector<std::string> lines_;
};

}  // namespace sluice::tests
