// SPDX-License-Identifier: BSD-3-Clause
#include "support/needs_ranks.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <utility>
#include <vector>

namespace sluice::tests {

namespace {

std::vector<std::pair<std::string, int>>& needs() {
    static std::vector<std::pair<std::string, int>> list;  // filled while the static objects of the program are
                                                           // constructed
    return list;
}

/// Returns Suite.case of every case, for a parameterized one without its parameters.
std::set<std::string> names_of_cases() {
    std::set<std::string> names;
    testing::UnitTest const& all = *testing::UnitTest::GetInstance();
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        testing::TestSuite const& suite = *all.GetTestSuite(i);
        std::string suite_name = suite.name();
        suite_name.erase(0, suite_name.find('/') + 1);
        for (int j = 0; j < suite.total_test_count(); ++j) {
            std::string const name = suite.GetTestInfo(j)->name();
            names.insert(suite_name + "." + name.substr(0, name.find('/')));
        }
    }
    return names;
}

}  // namespace

bool needs_ranks(std::string name, int least) {
    needs().emplace_back(std::move(name), least);
    return true;
}

std::string leave_out_cases_of_more_ranks(int ranks) {
    char const* const text = std::getenv("SLUICE_TEST_MOST_RANKS");
    int const most = text != nullptr ? std::atoi(text) : 0;
    std::set<std::string> const cases = names_of_cases();
    std::string filter = GTEST_FLAG_GET(filter);
    bool has_left_out = filter.find('-') != std::string::npos;
    for (auto const& [name, least] : needs()) {
        if (!cases.contains(name)) return "no case is called " + name + ", which is said to need ranks";
        if (most > 0 && least > most)
            return name + " needs " + std::to_string(least) + " ranks, and the program is started with " +
                   std::to_string(most) + " at most: it never runs";
        if (least <= ranks) continue;
        filter += (has_left_out ? ":" : "-") + name + ":*/" + name + "/*";
        has_left_out = true;
    }
    GTEST_FLAG_SET(filter, filter);
    return {};
}

}  // namespace sluice::tests
