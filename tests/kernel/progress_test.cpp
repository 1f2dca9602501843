// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/progress.hpp"

#include <gtest/gtest.h>

namespace sluice::kernel {

namespace {

class Told final : public Pollable {
  public:
    bool poll() override {
        ++polls;
        if (adds != nullptr) progress->add(*adds);
        adds = nullptr;
        return moves;
    }
    int polls = 0;
    bool moves = false;
    Progress* progress = nullptr;
    Pollable* adds = nullptr;
};

TEST(Progress, is_empty_while_nothing_is_registered) {
    Progress progress;
    EXPECT_TRUE(progress.empty());
    Told first;
    Told second;
    progress.add(first);
    progress.add(second);
    EXPECT_FALSE(progress.empty());
    progress.remove(first);
    EXPECT_FALSE(progress.empty());
    progress.remove(second);
    EXPECT_TRUE(progress.empty());
}

TEST(Progress, says_that_something_moved_if_one_of_them_moved) {
    Progress progress;
    Told first;
    Told second;
    progress.add(first);
    progress.add(second);
    EXPECT_FALSE(progress.poll());
    first.moves = true;
    EXPECT_TRUE(progress.poll());
    EXPECT_EQ(second.polls, 2);
}

TEST(Progress, polls_one_that_another_adds) {
    Progress progress;
    Told later;
    Told first;
    first.progress = &progress;
    first.adds = &later;
    progress.add(first);
    progress.poll();
    EXPECT_EQ(later.polls, 1);
}

}  // namespace

}  // namespace sluice::kernel
