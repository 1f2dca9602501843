// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/endless.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sluice/error.hpp"

namespace sluice::tasks {

namespace {

using kernel::EndlessWaits;

/// The spawned task that awaits `task`, directly or through others; itself if it was spawned.
detail::TaskPromise const& spawned_one(detail::TaskPromise const& task) {
    detail::TaskPromise const* at = &task;
    while (at->caller)
        at = &std::coroutine_handle<detail::TaskPromise>::from_address(at->caller.address()).promise();
    return *at;
}

/// What a spawned task waits for.
struct Edge {
    static constexpr std::size_t k_no_task = ~std::size_t{0};
    std::size_t task = k_no_task;              // place of another task, or
    EndlessWaits::Wait const* wait = nullptr;  // this
    bool is_printed = false;
};

std::string text_of(EndlessWaits::Wait const& wait, int rank) {
    std::string const data = "id " + std::to_string(wait.id) + " of epoch " + std::to_string(wait.epoch);
    switch (wait.what) {
        case EndlessWaits::For::publication:
            return data + " of rank " + std::to_string(rank) + ", which is not published";
        case EndlessWaits::For::sending:
            return data + " of rank " + std::to_string(rank) + ", which is not sent";
        case EndlessWaits::For::readers:
            break;
    }
    return "the readers of " + data;
}

class Waiters {
  public:
    Waiters(std::span<detail::TaskPromise* const> spawned, EndlessWaits& waits, int rank)
        : spawned_(spawned), rank_(rank), edges_(spawned.size()) {
        for (EndlessWaits::Wait const& wait : waits.of_each_task())
            add(*static_cast<detail::TaskPromise const*>(wait.task), {.wait = &wait});
        for (std::size_t place = 0; place < spawned.size(); ++place)
            for (detail::TaskPromise const* const waiting : spawned[place]->join->waiting)
                add(*waiting, {.task = place});
    }

    std::size_t number() const noexcept { return number_; }

    /// "task 0 -> task 2 -> task 0; task 1 -> id 7 of epoch 0 …"
    std::string text() {
        constexpr std::size_t k_most_chains = 4;
        std::string all;
        std::size_t chains = 0;
        for (std::size_t const first : in_order_of_spawn()) {
            if (edges_[first].is_printed) continue;
            if (++chains > k_most_chains) return all + "; and more";
            all += (all.empty() ? "" : "; ") + chain_from(first);
        }
        return all;
    }

  private:
    void add(detail::TaskPromise const& waiting, Edge const& edge) {
        if (waiting.scheduler != spawned_.front()->scheduler) return;
        edges_[spawned_one(waiting).join->place] = edge;
        ++number_;
    }

    std::vector<std::size_t> in_order_of_spawn() const {
        std::vector<std::size_t> places(spawned_.size());
        for (std::size_t place = 0; place < places.size(); ++place)
            places[place] = place;
        std::ranges::sort(places, {}, [this](std::size_t place) { return spawned_[place]->join->number; });
        return places;
    }

    std::string chain_from(std::size_t place) {
        constexpr std::size_t k_most_links = 8;
        std::string chain = name_of(place);
        for (std::size_t link = 0; !edges_[place].is_printed; ++link) {
            Edge& edge = edges_[place];
            edge.is_printed = true;
            if (edge.wait != nullptr) return chain + " -> " + text_of(*edge.wait, rank_);
            if (link == k_most_links) return chain + " -> …";
            place = edge.task;
            chain += " -> " + name_of(place);
        }
        return chain;
    }

    std::string name_of(std::size_t place) const { return "task " + std::to_string(spawned_[place]->join->number); }

    std::span<detail::TaskPromise* const> spawned_;
    int rank_;
    std::vector<Edge> edges_;  // by place
    std::size_t number_ = 0;
};

}  // namespace

void throw_if_endless(Scheduler const& scheduler, EndlessWaits& waits, int rank) {
    std::span<detail::TaskPromise* const> const spawned = scheduler.spawned();
    if (spawned.empty()) return;
    Waiters waiters(spawned, waits, rank);
    if (waiters.number() < spawned.size()) return;
    throw Error(ErrorCode::invalid_argument,
                "rank " + std::to_string(rank) + " would wait for ever: none of its " + std::to_string(spawned.size()) +
                    " tasks can run, and no request, time, callback or other rank can wake one: " + waiters.text() +
                    " (tasks are numbered from 0 in the order of spawn)");
}

}  // namespace sluice::tasks
