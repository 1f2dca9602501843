// SPDX-License-Identifier: BSD-3-Clause
/// Reports the cases that a program skipped. ctest counts a program as passed if one of its cases was skipped; by the
/// lines that this prints, ctest reports the program as skipped (SKIP_REGULAR_EXPRESSION in SluiceTest.cmake).
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::tests {

/// Returns why the case skipped itself; empty if it did not.
std::string reason_of_skip(testing::TestInfo const& test);

/// Collects skipped cases during the run. Call tell() at the very end, and only if nothing failed: ctest takes a
/// program with such a line for skipped, whatever its exit code is.
class SkippedCases : public testing::EmptyTestEventListener {
  public:
    void OnTestEnd(testing::TestInfo const& test) override;
    void add(testing::TestInfo const& test, std::string const& reason);
    /// Prints one line for each case, "skipped: Suite.case: reason".
    void tell() const;

  private:
    std::vector<std::string> lines_;
};

}  // namespace sluice::tests
