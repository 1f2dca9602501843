// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/running_services.hpp"

#include <cstddef>
#include <utility>

namespace sluice::plugin {

RunningServices::Bits RunningServices::wishes(Services const& all, Job const& job, bool one_thread) {
    Bits bits{one_thread ? 1 : 0};
    for (auto const& service : all)
        bits.push_back(service->wanted(job) ? 1 : 0);
    return bits;
}

void RunningServices::choose(Services all, Bits const& mine, Bits const& agreed) {
    one_thread_ = (agreed.empty() ? mine : agreed)[0] != 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        bool const alone = all[i]->needs() == Needs::nothing;
        bool const wanted = alone ? mine[i + 1] != 0 : !agreed.empty() && agreed[i + 1] != 0;
        if (wanted) chosen_.push_back(std::move(all[i]));
    }
}

void RunningServices::start(Job& job) {
    for (auto const& service : chosen_) {
        if (service->needs() == Needs::one_thread && !one_thread_)
            service->leave_to_mpi(job);
        else
            service->start(job);
        ++running_;
    }
}

void RunningServices::stop(Job& job, Ending ending) {
    for (; running_ > 0; --running_)
        chosen_[running_ - 1]->stop(job, ending);
}

void RunningServices::stop_those_of_all(Job& job) {
    for (std::size_t i = running_; i-- > 0;) {
        if (chosen_[i]->needs() == Needs::nothing) continue;
        chosen_[i]->stop(job, Ending::exit);
        given_up_.push_back(std::move(chosen_[i]));
        chosen_.erase(chosen_.begin() + static_cast<std::ptrdiff_t>(i));
        --running_;
    }
}

void RunningServices::in_child() noexcept {
    for (std::size_t i = 0; i < running_; ++i)
        chosen_[i]->in_child();
}

}  // namespace sluice::plugin
