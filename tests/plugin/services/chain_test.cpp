// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/chain.hpp"

#include <gtest/gtest.h>

#include <array>
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

// Owners of links; each is told of by its name.
struct Owner {
    std::string name;
    int calls = 0;
};

constexpr auto adds_one = [](Owner& owner, Call& call, auto next, int number, char const* text) {
    ++owner.calls;
    call.way += owner.name + " ";
    return next(number + 1, text);
};

constexpr auto says_longer = [](Owner& owner, Call& call, auto next, int number, char const*) {
    call.way += owner.name + " ";
    return next(number, "longer");
};

constexpr auto serves = [](Owner& owner, Call& call, auto, int number, char const*) {
    call.way += owner.name + " ";
    return -number;
};

TEST(Chain, without_links_is_the_function_below) {
    Call call;
    EXPECT_EQ(Links().run(call, below, 4, "ab"), 42);
    EXPECT_EQ(call.way, "");
}

TEST(Chain, links_follow_each_other_and_may_change_arguments) {
    Owner first{"first"};
    Owner second{"second"};
    Links links;
    links.add(first, adds_one);
    links.add(second, says_longer);
    Call call;
    EXPECT_EQ(links.run(call, below, 4, "ab"), 56);
    EXPECT_EQ(call.way, "first second ");
}

TEST(Chain, a_link_gets_the_owner_that_it_was_added_with) {
    Owner first{"first"};
    Owner second{"second"};
    Links links;
    links.add(first, adds_one);
    links.add(second, adds_one);
    Call call;
    EXPECT_EQ(links.run(call, below, 4, "ab"), 62);
    EXPECT_EQ(call.way, "first second ");
    links.remove(&first);
    EXPECT_EQ(links.run(call, below, 4, "ab"), 52);
    EXPECT_EQ(first.calls, 1);
    EXPECT_EQ(second.calls, 2);
}

TEST(Chain, a_link_that_serves_the_call_calls_nothing_after_it) {
    Owner first{"first"};
    Owner server{"server"};
    Owner second{"second"};
    Links links;
    links.add(first, adds_one);
    links.add(server, serves);
    links.add(second, says_longer);
    Call call;
    EXPECT_EQ(links.run(call, below, 4, "ab"), -5);
    EXPECT_EQ(call.way, "first server ");
}

TEST(Chain, the_others_keep_their_order_when_one_is_removed) {
    Owner first{"first"};
    Owner server{"server"};
    Owner second{"second"};
    Links links;
    links.add(first, adds_one);
    links.add(server, serves);
    links.add(second, says_longer);
    links.remove(&server);
    Call call;
    EXPECT_EQ(links.run(call, below, 4, "ab"), 56);
    EXPECT_EQ(call.way, "first second ");
    links.remove(&first);
    links.remove(&second);
    EXPECT_EQ(links.run(call, below, 4, "ab"), 42);
}

TEST(Chain, has_room_again_after_a_removal) {
    std::array<Owner, k_most_links> owners;
    Links links;
    for (Owner& owner : owners)
        links.add(owner, adds_one);
    links.remove(&owners[0]);
    Owner last{"last"};
    links.add(last, says_longer);
    Call call;
    EXPECT_EQ(links.run(call, below, 4, "ab"), 40 + 10 * static_cast<int>(k_most_links - 1) + 6);
    EXPECT_EQ(last.calls, 0);
    EXPECT_TRUE(call.way.ends_with("last ")) << call.way;
}

}  // namespace

}  // namespace sluice::plugin
