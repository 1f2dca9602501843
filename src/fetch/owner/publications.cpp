// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/owner/publications.hpp"

#include <algorithm>
#include <utility>

#include "sluice/error.hpp"

namespace sluice::fetch {

Publication& Publications::add(Name const& name, Publication&& publication) {
    over_.make_room(published_.size() + 1);
    auto const [at, fresh] = published_.try_emplace(name, std::move(publication));
    if (!fresh)
        throw Error(ErrorCode::invalid_argument, "id " + std::to_string(name.id) + " of epoch " +
                                                     std::to_string(name.epoch) + " is published already");
    return at->second;
}

Publication* Publications::find(Name const& name) {
    auto const at = published_.find(name);
    return at == published_.end() || at->second.withdrawn ? nullptr : &at->second;
}

bool Publications::is_refused(Name const& name) const {
    return finished_ || !given_up_.empty() || is_closed(name) || is_withdrawn(name) || over_.contains(name);
}

std::string Publications::refusal(Name const& name) const {
    if (is_withdrawn(name)) return "it has withdrawn the data";
    if (over_.contains(name)) return "it has withdrawn the data, or all readers have had them";
    if (!is_closed(name) && !given_up_.empty())
        return "it has not published the data, and a task there threw an exception: " + given_up_;
    return std::string("it has not published the data") + (is_closed(name) ? ", or no longer does, and " : ", and ") +
           why_over(name).value_or("will not");
}

std::optional<std::string> Publications::why_over(Name const& name) const {
    if (is_closed(name)) return "has closed the epochs up to " + std::to_string(*closed_);
    if (finished_) return "has finished";
    return std::nullopt;
}

bool Publications::may_call() const noexcept {
    return std::ranges::any_of(published_, [](auto const& entry) {
        Publication const& publication = entry.second;
        return publication.pack || publication.bring || !publication.waiting.empty();
    });
}

void Publications::keep_early(Requests&& request) {
    Requests& early = early_[request.front().control.name];
    early.splice(early.end(), request);
}

Requests Publications::take_early(Name const& name) {
    auto const at = early_.find(name);
    if (at == early_.end()) return {};
    Requests requests = std::move(at->second);
    early_.erase(at);
    return requests;
}

Requests Publications::take_refused() {
    Requests refused;
    for (auto at = early_.begin(); at != early_.end();) {
        if (!is_refused(at->first)) {
            ++at;
            continue;
        }
        refused.splice(refused.end(), at->second);
        at = early_.erase(at);
    }
    return refused;
}

DeliveryWaits Publications::forget_if_over(Name const& name) {
    auto const at = published_.find(name);
    if (at == published_.end()) return {};
    Publication& publication = at->second;
    if (publication.on_their_way > 0 || (publication.readers_left > 0 && !publication.withdrawn)) return {};
    DeliveryWaits waiting = std::move(publication.waiting);
    published_.erase(at);
    over_.remember(name);
    return waiting;
}

DeliveryWaits Publications::count_reader(Name const& name) {
    if (auto const at = published_.find(name); at != published_.end()) --at->second.readers_left;
    return forget_if_over(name);
}

DeliveryWaits Publications::arrived(Name const& name) {
    auto const at = published_.find(name);
    if (at == published_.end()) return {};
    --at->second.on_their_way;
    return forget_if_over(name);
}

DeliveryWaits Publications::take_back(Name const& name) {
    auto const at = published_.find(name);
    if (at == published_.end()) return {};
    ++at->second.readers_left;
    return arrived(name);
}

DeliveryWaits Publications::withdraw(Name const& name) {
    auto const at = published_.find(name);
    if (at == published_.end()) return {};
    at->second.withdrawn = true;
    return forget_if_over(name);
}

void Publications::leave_waits_behind() noexcept {
    for (auto& [name, publication] : published_)
        for (std::shared_ptr<DeliveryWait> const& wait : publication.waiting)
            wait->leave_behind();
}

void Publications::close(std::uint64_t epoch) {
    closed_ = std::max(epoch, closed_.value_or(epoch));
}

void Publications::find_oldest(int rank, OldestWait& oldest) const {
    for (auto const& [name, publication] : published_) {
        int const have = publication.readers - publication.readers_left - publication.on_their_way;
        for (auto const& wait : publication.waiting)
            if (oldest.is_older(wait->seen))
                oldest.set({.what = LongWait::For::readers,
                            .since = wait->seen,
                            .key = {rank, name.id, name.epoch},
                            .waiting = wait,
                            .have = have,
                            .readers = publication.readers});
    }
}

}  // namespace sluice::fetch
