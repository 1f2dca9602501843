// SPDX-License-Identifier: BSD-3-Clause
// The services that there are, without MPI.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "plugin/services/job.hpp"
#include "plugin/services/watching/watching.hpp"
#include "sluice/settings.hpp"
#include "support/limits/refuse_call.h"

namespace sluice::plugin {

namespace {

TEST(Services, each_is_switched_by_a_row_of_the_settings) {
    for (auto const& service : make_services())
        EXPECT_EQ(std::ranges::count(setting_rows(), std::string_view(service->setting()), &SettingRow::name), 1)
            << service->name() << ": " << service->setting();
}

TEST(Services, each_has_a_name_of_its_own) {
    std::set<std::string> names;
    Services const all = make_services();
    for (auto const& service : all)
        names.insert(service->name());
    EXPECT_EQ(names.size(), all.size());
}

/// The helper thread needs descriptors of its own. The other ranks rely on what was agreed, so the rank must go on.
TEST(Services, a_rank_goes_on_if_no_samples_can_be_taken) {
    pid_t const child = fork();
    if (child == 0) {
        Job job{Settings{}};
        std::unique_ptr<Service> const watching = make_watching();
        if (refuse_call(SYS_close_range) == 0) _exit(2);
        watching->start(job);
        watching->stop(job, Ending::exit);
        _exit(job.watch.record().head.recent == 0 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Services, are_wanted_as_their_settings_say) {
    Settings settings;
    settings.watch = Switch::off;
    settings.inplace = Switch::on;
    settings.check = CheckedCalls::all;
    Job const job(settings);
    std::set<std::string> wanted;
    for (auto const& service : make_services())
        if (service->wanted(job)) wanted.insert(service->setting());
    EXPECT_EQ(wanted, (std::set<std::string>{"check", "inplace"}));
}

/// Counts how often it is polled.
class Polled final : public Service {
  public:
    char const* name() const noexcept override { return "polls"; }
    char const* setting() const noexcept override { return "watch"; }
    Needs needs() const noexcept override { return {.all_ranks = true, .one_thread = true}; }
    bool wanted(Job const&) const noexcept override { return true; }
    void start(Job& job) noexcept override { job.progress.add(*this); }
    void stop(Job& job, Ending) override { job.progress.remove(*this); }
    bool poll() override {
        ++polls;
        return true;
    }
    int polls = 0;
};

TEST(Services, are_polled_while_they_are_registered) {
    Job job{Settings{}};
    Polled service;
    job.poll();
    EXPECT_EQ(service.polls, 0);
    service.start(job);
    job.poll();
    job.poll();
    EXPECT_EQ(service.polls, 2);
    service.stop(job, Ending::finalize);
    job.poll();
    EXPECT_EQ(service.polls, 2);
}

TEST(Services, are_not_polled_if_several_threads_call) {
    Job job{Settings{}};
    Polled service;
    service.start(job);
    g_plugin.several_threads = true;
    job.poll();
    g_plugin.several_threads = false;
    EXPECT_EQ(service.polls, 0);
}

}  // namespace

}  // namespace sluice::plugin
