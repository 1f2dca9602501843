// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/running_services.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace sluice::plugin {

// The list does not look into the job, so a test can have its own.
struct Job {
    std::vector<std::string> wanted;
    std::string told;
};

namespace {

class Told final : public Service {
  public:
    Told(char const* name, Needs needs, Job& job) : name_(name), needs_(needs), job_(job) {}
    char const* name() const noexcept override { return name_; }
    char const* setting() const noexcept override { return "watch"; }
    Needs needs() const noexcept override { return needs_; }
    bool wanted(Job const& job) const noexcept override {
        return std::find(job.wanted.begin(), job.wanted.end(), name_) != job.wanted.end();
    }
    void start(Job& job) override {
        if (fails) throw std::runtime_error("cannot start");
        tell(job, "+");
    }
    void leave_to_mpi(Job& job) override { tell(job, "~"); }
    void stop(Job& job, Ending ending) override { tell(job, ending == Ending::finalize ? "-" : "!"); }
    void in_child() noexcept override { tell(job_, "c"); }
    bool fails = false;

  private:
    void tell(Job& job, char const* what) const { job.told += std::string(what) + name_ + " "; }
    char const* name_;
    Needs needs_;
    Job& job_;
};

Services three(Job& job) {
    Services all;
    all.push_back(std::make_unique<Told>("a", Needs::one_thread, job));
    all.push_back(std::make_unique<Told>("b", Needs::all_ranks, job));
    all.push_back(std::make_unique<Told>("c", Needs::nothing, job));
    return all;
}

using Bits = RunningServices::Bits;

TEST(RunningServices, start_in_order_and_stop_in_reverse) {
    Job job{{"a", "b", "c"}, ""};
    RunningServices services;
    Bits const mine = RunningServices::wishes(three(job), job, true);
    EXPECT_EQ(mine, (Bits{1, 1, 1, 1}));
    services.choose(three(job), mine, mine);
    EXPECT_TRUE(services.empty());
    services.start(job);
    EXPECT_FALSE(services.empty());
    services.stop(job, Ending::finalize);
    EXPECT_EQ(job.told, "+a +b +c -c -b -a ");
    EXPECT_TRUE(services.empty());
}

TEST(RunningServices, one_that_another_rank_does_not_want_starts_on_no_rank) {
    Job job{{"a", "b", "c"}, ""};
    RunningServices services;
    services.choose(three(job), {1, 1, 1, 1}, {1, 1, 0, 0});
    services.start(job);
    EXPECT_EQ(job.told, "+a +c ") << "c needs no other rank";
}

TEST(RunningServices, without_agreement_only_those_start_that_need_no_other_rank) {
    Job job{{"a", "b", "c"}, ""};
    RunningServices services;
    services.choose(three(job), {1, 1, 1, 1}, {});
    services.start(job);
    EXPECT_EQ(job.told, "+c ");
}

TEST(RunningServices, several_threads_leave_to_mpi_what_needs_one) {
    Job job{{"a", "b", "c"}, ""};
    RunningServices services;
    EXPECT_EQ(RunningServices::wishes(three(job), job, false), (Bits{0, 1, 1, 1}));
    services.choose(three(job), {1, 1, 1, 1}, {0, 1, 1, 1});
    services.start(job);
    EXPECT_EQ(job.told, "~a +b +c ");
    services.stop(job, Ending::finalize);
    EXPECT_EQ(job.told, "~a +b +c -c -b -a ");
}

TEST(RunningServices, only_those_that_started_are_stopped) {
    Job job{{"a", "b", "c"}, ""};
    Services all = three(job);
    static_cast<Told&>(*all[1]).fails = true;
    RunningServices services;
    services.choose(std::move(all), {1, 1, 1, 1}, {1, 1, 1, 1});
    EXPECT_THROW(services.start(job), std::runtime_error);
    services.stop(job, Ending::exit);
    EXPECT_EQ(job.told, "+a !a ");
}

TEST(RunningServices, what_needs_all_ranks_stops_if_one_of_them_could_not_start) {
    Job job{{"a", "b", "c"}, ""};
    RunningServices services;
    services.choose(three(job), {1, 1, 1, 1}, {1, 1, 1, 1});
    services.start(job);
    services.stop_those_of_all(job);
    EXPECT_EQ(job.told, "+a +b +c !b !a ");
    services.stop(job, Ending::finalize);
    EXPECT_EQ(job.told, "+a +b +c !b !a -c ");
}

TEST(RunningServices, a_child_of_fork_is_told_to_those_that_run) {
    Job job{{"c"}, ""};
    RunningServices services;
    services.choose(three(job), RunningServices::wishes(three(job), job, true), {1, 0, 0, 1});
    services.in_child();
    EXPECT_EQ(job.told, "");
    services.start(job);
    services.in_child();
    EXPECT_EQ(job.told, "+c cc ");
}

}  // namespace

}  // namespace sluice::plugin
