// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/running_services.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sluice/settings.hpp"

namespace sluice::plugin {

// The list does not look into the job, so a test can have its own.
struct Job {
    std::vector<std::string> wanted;
    std::string told;
};

void leave_owned_to_mpi(Job& job) {
    job.told += "owned ";
}

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
    int thread_level(Settings const&) const noexcept override { return level; }
    std::optional<std::string> prepare(Job& job) override {
        if (throws) throw std::runtime_error("no memory");
        if (refuses) return "no frames";
        tell(job, "p");
        return std::nullopt;
    }
    void start(Job& job) noexcept override { tell(job, "+"); }
    void leave_to_mpi(Job& job) noexcept override { tell(job, "~"); }
    void stop(Job& job, Ending ending) override { tell(job, ending == Ending::finalize ? "-" : "!"); }
    void before_fork() noexcept override { tell(job_, "f"); }
    void in_child() noexcept override { tell(job_, "c"); }
    int level = MPI_THREAD_SINGLE;
    bool refuses = false;
    bool throws = false;

  private:
    void tell(Job& job, char const* what) const { job.told += std::string(what) + name_ + " "; }
    char const* name_;
    Needs needs_;
    Job& job_;
};

constexpr Needs k_one_thread{.all_ranks = true, .one_thread = true, .calls_of_many = true};
constexpr Needs k_all_ranks{.all_ranks = true};
constexpr RunningServices::Rank k_rank{.all_run = true, .one_thread = true};

Services three(Job& job) {
    Services all;
    all.push_back(std::make_unique<Told>("a", k_one_thread, job));
    all.push_back(std::make_unique<Told>("b", k_all_ranks, job));
    all.push_back(std::make_unique<Told>("c", Needs{}, job));
    return all;
}

using Bits = RunningServices::Bits;

void no_refusal(char const* service, std::string const& why) {
    ADD_FAILURE() << service << ": " << why;
}

/// The services of one rank.
struct Rank {
    Job job{{"a", "b", "c"}, ""};
    RunningServices services;
    Rank() { services.offer(three(job)); }
};

class RunningServicesOfARank : public testing::Test, protected Rank {};

TEST_F(RunningServicesOfARank, are_prepared_and_start_in_order_and_stop_in_reverse) {
    Bits const mine = services.prepare(job, k_rank, no_refusal);
    EXPECT_EQ(mine, (Bits{1, 1, 1, 1}));
    services.choose(mine, mine);
    EXPECT_TRUE(services.empty());
    services.start(job);
    EXPECT_FALSE(services.empty());
    services.stop(job, Ending::finalize);
    EXPECT_EQ(job.told, "pa pb pc +a +b +c -c -b -a owned ") << "what they own ends after the last of them";
    EXPECT_TRUE(services.empty());
}

TEST_F(RunningServicesOfARank, leave_no_request_to_an_mpi_that_cannot_be_used) {
    services.choose(services.prepare(job, k_rank, no_refusal), {1, 0, 0, 0});
    services.start(job);
    services.stop(job, Ending::exit);
    EXPECT_EQ(job.told, "pa pb pc +c !c ");
}

TEST_F(RunningServicesOfARank, one_that_another_rank_does_not_want_starts_on_no_rank) {
    services.choose(services.prepare(job, k_rank, no_refusal), {1, 1, 0, 0});
    services.start(job);
    EXPECT_EQ(job.told, "pa pb pc +a +c ") << "c needs no other rank";
}

TEST_F(RunningServicesOfARank, without_agreement_only_those_start_that_need_no_other_rank) {
    Bits const mine = services.prepare(job, {.all_run = false, .one_thread = true}, no_refusal);
    services.choose(mine, {});
    services.start(job);
    EXPECT_EQ(job.told, "pc +c ");
}

TEST_F(RunningServicesOfARank, with_several_threads_leave_to_mpi_what_needs_one) {
    Bits const mine = services.prepare(job, {.all_run = true, .one_thread = false}, no_refusal);
    EXPECT_EQ(mine, (Bits{0, 1, 1, 1}));
    services.choose(mine, mine);
    services.start(job);
    EXPECT_EQ(job.told, "pb pc ~a +b +c ") << "what is left to MPI needs nothing";
    services.stop(job, Ending::finalize);
    EXPECT_EQ(job.told, "pb pc ~a +b +c -c -b -a owned ");
}

TEST_F(RunningServicesOfARank, act_in_other_calls_if_one_of_them_does) {
    Job alone{{"a"}, ""};
    RunningServices one;
    one.offer(three(alone));
    one.choose(one.prepare(alone, k_rank, no_refusal), {1, 1, 0, 0});
    one.start(alone);
    EXPECT_TRUE(one.only_in_calls_of_many());
    services.choose(services.prepare(job, k_rank, no_refusal), {1, 1, 1, 1});
    services.start(job);
    EXPECT_FALSE(services.only_in_calls_of_many());
}

/// As two ranks that agree on the least.
Bits agreed(Bits const& one, Bits const& other) {
    Bits least;
    for (std::size_t i = 0; i < one.size(); ++i)
        least.push_back(std::min(one[i], other[i]));
    return least;
}

TEST(RunningServices, one_that_cannot_be_prepared_on_a_rank_starts_on_no_rank_if_it_needs_all) {
    Rank one;
    Rank other;
    Services all = three(other.job);
    static_cast<Told&>(*all[1]).refuses = true;
    static_cast<Told&>(*all[2]).throws = true;
    other.services.offer(std::move(all));
    std::string refused;
    Bits const mine = one.services.prepare(one.job, k_rank, no_refusal);
    Bits const others = other.services.prepare(other.job, k_rank, [&](char const* service, std::string const& why) {
        refused += std::string(service) + ": " + why + "; ";
    });
    EXPECT_EQ(refused, "b: no frames; c: no memory; ");
    EXPECT_EQ(others, (Bits{1, 1, 0, 0}));
    Bits const common = agreed(mine, others);
    one.services.choose(mine, common);
    other.services.choose(others, common);
    one.services.start(one.job);
    other.services.start(other.job);
    EXPECT_EQ(one.job.told, "pa pb pc +a +c ");
    EXPECT_EQ(other.job.told, "pa +a ");
}

TEST_F(RunningServicesOfARank, ask_for_the_highest_thread_level_that_a_wanted_one_needs) {
    Services all = three(job);
    static_cast<Told&>(*all[0]).level = MPI_THREAD_FUNNELED;
    static_cast<Told&>(*all[1]).level = MPI_THREAD_SERIALIZED;
    static_cast<Told&>(*all[2]).level = MPI_THREAD_MULTIPLE;
    services.offer(std::move(all));
    job.wanted = {"a", "b"};
    EXPECT_EQ(services.thread_level(job, Settings{}), MPI_THREAD_SERIALIZED);
    job.wanted = {};
    EXPECT_EQ(services.thread_level(job, Settings{}), MPI_THREAD_SINGLE);
}

TEST_F(RunningServicesOfARank, those_that_run_learn_of_a_fork_before_and_in_the_child) {
    job.wanted = {"c"};
    Bits const mine = services.prepare(job, k_rank, no_refusal);
    services.choose(mine, mine);
    services.before_fork();
    services.in_child();
    EXPECT_EQ(job.told, "pc ");
    services.start(job);
    services.before_fork();
    services.in_child();
    EXPECT_EQ(job.told, "pc +c fc cc ");
}

}  // namespace

}  // namespace sluice::plugin
