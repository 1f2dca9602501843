// SPDX-License-Identifier: BSD-3-Clause
// Services that act before calls, without MPI.
#include "plugin/services/before_calls.hpp"

#include <gtest/gtest.h>

#include <string>

#include "plugin/services/service.hpp"

namespace sluice::plugin {

// They pass on what they get without looking into it.
class Call {
  public:
    std::string way;
};

struct Job {
    std::string way;
};

namespace {

class Named final : public Service {
  public:
    explicit Named(char const* name) : name_(name) {}
    char const* name() const noexcept override { return name_; }
    char const* setting() const noexcept override { return "watch"; }
    Needs needs() const noexcept override { return {}; }
    bool wanted(Job const&) const noexcept override { return true; }
    void start(Job&) noexcept override {}
    void stop(Job&, Ending) override {}
    void before(Call& call, TouchedBy const& touched) noexcept override {
        TouchedMemory memory;
        touched.fill(memory);
        call.way += name_ + std::to_string(memory.ranges().size()) + " ";
    }
    void before_unwatched(Job& job, char const* function) noexcept override {
        job.way += std::string(name_) + ":" + function + " ";
    }

  private:
    char const* name_;
};

auto const touches_one = [](TouchedMemory& memory) noexcept { memory.reads("text", 4); };

TEST(BeforeCalls, reach_nothing_while_nothing_is_registered) {
    BeforeCalls before;
    Call call;
    EXPECT_TRUE(before.empty());
    before.run(call, TouchedBy(touches_one));
    EXPECT_EQ(call.way, "");
}

TEST(BeforeCalls, services_act_in_the_order_in_which_they_came) {
    Named first("first");
    Named second("second");
    BeforeCalls before;
    before.add(first);
    before.add(second);
    before.add(first);  // again
    Call call;
    Job job;
    before.run(call, TouchedBy(touches_one));
    before.run_unwatched(job, "MPI_Comm_rank");
    EXPECT_EQ(call.way, "first1 second1 ");
    EXPECT_EQ(job.way, "first:MPI_Comm_rank second:MPI_Comm_rank ");
}

TEST(BeforeCalls, have_room_again_after_a_removal) {
    Named first("first");
    Named second("second");
    BeforeCalls before;
    for (int round = 0; round < 10; ++round) {
        before.add(first);
        before.add(second);
        before.remove(first);
        Call call;
        before.run(call, TouchedBy(touches_one));
        EXPECT_EQ(call.way, "second1 ");
        EXPECT_FALSE(before.empty());
        before.remove(second);
        before.remove(second);  // again
        EXPECT_TRUE(before.empty());
    }
}

TEST(TouchedMemory, leaves_out_what_is_no_memory) {
    TouchedMemory memory;
    memory.reads(nullptr, 8);
    memory.writes(reinterpret_cast<void*>(1), 8);
    memory.writes(reinterpret_cast<void*>(-1), 8);
    memory.reads("text", 0);
    EXPECT_TRUE(memory.ranges().empty());
    EXPECT_FALSE(memory.touches_anything());
}

TEST(TouchedMemory, overlaps_what_shares_a_byte_with_a_range) {
    TouchedMemory memory;
    memory.writes(reinterpret_cast<void*>(0x10000), 0x100);
    EXPECT_TRUE(memory.overlaps(0x100ff, 1));
    EXPECT_TRUE(memory.overlaps(0xff00, 0x101));
    EXPECT_FALSE(memory.overlaps(0x10100, 0x100));
    EXPECT_FALSE(memory.overlaps(0xff00, 0x100));
    memory.anything();
    EXPECT_TRUE(memory.overlaps(0x10100, 0x100));
}

TEST(TouchedMemory, is_anything_if_ranges_do_not_fit) {
    TouchedMemory memory;
    for (std::uintptr_t i = 1; i <= TouchedMemory::k_most; ++i)
        memory.reads(reinterpret_cast<void*>(i << 16), 1);
    EXPECT_FALSE(memory.touches_anything());
    memory.reads(reinterpret_cast<void*>(0x77770000), 1);
    EXPECT_TRUE(memory.touches_anything());
    EXPECT_EQ(memory.ranges().size(), TouchedMemory::k_most);
}

TEST(TouchedMemory, is_anything_if_a_range_leaves_the_addresses) {
    TouchedMemory memory;
    memory.reads("text", ~std::uint64_t{0});
    EXPECT_TRUE(memory.touches_anything());
}

}  // namespace

}  // namespace sluice::plugin
