// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/chain.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::plugin {

// The chain passes a call on without looking into it, so a test can use a type of its own.
class Call {
  public:
    std::string way;
};

namespace {

using Function = int (*)(int, char const*);
using Links = Chain<Function>;

int below(int number, char const* text) {
    return number * 10 + static_cast<int>(std::string(text).size());
}

int first(Call& call, Links::Next next, int number, char const* text) {
    call.way += "first ";
    return next(number + 1, text);
}

int second(Call& call, Links::Next next, int number, char const*) {
    call.way += "second ";
    return next(number, "longer");
}

int serves(Call& call, Links::Next, int number, char const*) {
    call.way += "serves ";
    return -number;
}

TEST(Chain, without_links_is_the_function_below) {
    Call call;
    EXPECT_EQ(Links().run(call, below, 4, "ab"), 42);
    EXPECT_EQ(call.way, "");
}

TEST(Chain, links_follow_each_other_and_may_change_arguments) {
    Links links;
    links.add(first);
    links.add(second);
    Call call;
    EXPECT_EQ(links.run(call, below, 4, "ab"), 56);
    EXPECT_EQ(call.way, "first second ");
}

TEST(Chain, a_link_that_serves_the_call_calls_nothing_after_it) {
    Links links;
    links.add(first);
    links.add(serves);
    links.add(second);
    Call call;
    EXPECT_EQ(links.run(call, below, 4, "ab"), -5);
    EXPECT_EQ(call.way, "first serves ");
}

TEST(Chain, the_others_keep_their_order_when_one_is_removed) {
    Links links;
    links.add(first);
    links.add(serves);
    links.add(second);
    links.remove(serves);
    Call call;
    EXPECT_EQ(links.run(call, below, 4, "ab"), 56);
    EXPECT_EQ(call.way, "first second ");
    links.remove(first);
    links.remove(second);
    EXPECT_EQ(links.run(call, below, 4, "ab"), 42);
}

TEST(Chain, has_room_again_after_a_removal) {
    Links links;
    for (std::size_t i = 0; i < k_most_links; ++i)
        links.add(first);
    links.remove(first);
    links.add(second);
    Call call;
    EXPECT_EQ(links.run(call, below, 4, "ab"), 46);
    EXPECT_EQ(call.way, "second ");
}

}  // namespace

}  // namespace sluice::plugin
