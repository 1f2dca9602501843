// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/running_services.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <utility>

namespace sluice::plugin {

namespace {

bool needs_others(Service const& service) noexcept {
    return service.needs().all_ranks;
}

/// False if it cannot run here.
bool is_prepared(Service& service, Job& job, RunningServices::Refused const& refused) {
    std::optional<std::string> why;
    try {
        why = service.prepare(job);
    } catch (std::exception const& error) {
        why = error.what();
    }
    if (why) refused(service.name(), *why);
    return !why;
}

}  // namespace

int RunningServices::thread_level(Job const& job, Settings const& settings) const noexcept {
    int highest = MPI_THREAD_SINGLE;
    for (auto const& service : offered_)
        if (service->wanted(job)) highest = std::max(highest, service->thread_level(settings));
    return highest;
}

void RunningServices::before_init(Job& job) noexcept {
    for (auto const& service : offered_)
        if (service->wanted(job)) service->before_init(job);
}

RunningServices::Bits RunningServices::prepare(Job& job, Rank rank, Refused const& refused) {
    Bits bits{rank.one_thread ? 1 : 0};
    for (auto const& service : offered_) {
        bool wanted = service->wanted(job);
        // What is left to MPI, or cannot be agreed on, needs nothing.
        bool const may_start =
            (rank.all_run || !needs_others(*service)) && (rank.one_thread || !service->needs().one_thread);
        if (wanted && may_start) wanted = is_prepared(*service, job, refused);
        bits.push_back(wanted ? 1 : 0);
    }
    return bits;
}

void RunningServices::choose(Bits const& mine, Bits const& agreed) {
    one_thread_ = (agreed.empty() ? mine : agreed)[0] != 0;
    for (std::size_t i = 0; i < offered_.size(); ++i) {
        bool const alone = !needs_others(*offered_[i]);
        bool const wanted = alone ? mine[i + 1] != 0 : !agreed.empty() && agreed[i + 1] != 0;
        if (wanted) chosen_.push_back(std::move(offered_[i]));
    }
    offered_.clear();
}

void RunningServices::start(Job& job) noexcept {
    for (auto const& service : chosen_) {
        if (service->needs().one_thread && !one_thread_)
            service->leave_to_mpi(job);
        else
            service->start(job);
        ++running_;
    }
}

void RunningServices::stop_alone(Job& job) {
    auto const running = chosen_.begin() + static_cast<std::ptrdiff_t>(running_);
    auto const alone =
        std::stable_partition(chosen_.begin(), running, [](auto const& service) { return needs_others(*service); });
    for (auto service = running; service != alone;)
        (*--service)->stop(job, Ending::finalize);
    running_ = static_cast<std::size_t>(alone - chosen_.begin());
}

void RunningServices::stop(Job& job, Ending ending) {
    for (; running_ > 0; --running_)
        chosen_[running_ - 1]->stop(job, ending);
    if (ending == Ending::finalize) leave_owned_to_mpi(job);
}

bool RunningServices::runs(std::string_view name) const noexcept {
    return std::any_of(chosen_.begin(), chosen_.begin() + static_cast<std::ptrdiff_t>(running_),
                       [name](auto const& service) { return service->name() == name; });
}

bool RunningServices::only_in_calls_of_many() const noexcept {
    return std::all_of(chosen_.begin(), chosen_.begin() + static_cast<std::ptrdiff_t>(running_),
                       [](auto const& service) { return service->needs().calls_of_many; });
}

void RunningServices::before_fork() noexcept {
    for (std::size_t i = 0; i < running_; ++i)
        chosen_[i]->before_fork();
}

void RunningServices::after_fork() noexcept {
    for (std::size_t i = running_; i > 0; --i)
        chosen_[i - 1]->after_fork();
}

void RunningServices::in_child() noexcept {
    for (std::size_t i = 0; i < running_; ++i)
        chosen_[i]->in_child();
}

}  // namespace sluice::plugin
