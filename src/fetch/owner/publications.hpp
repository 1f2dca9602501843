// SPDX-License-Identifier: BSD-3-Clause
/// What a rank has published, and the requests that came too early.
///
///     published ──> asked by a reader ──> served … ──> read by all its readers: removed
///         └── withdrawn: removed when no data of it is on its way
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "fetch/data_check.hpp"
#include "fetch/long_waits.hpp"
#include "fetch/recent_keys.hpp"
#include "fetch/wire.hpp"
#include "sluice/fetch.hpp"

namespace sluice::fetch {

/// A task or callback that waits until all readers have some publications.
struct DeliveryWait {
    std::size_t missing = 0;              // publications that some reader does not have yet
    double seen = -1;                     // when LongWaits found it
    detail::TaskPromise* task = nullptr;  // null if no task waits, or
    std::function<void()> done;
    bool is_left_behind = false;  // the store was destroyed before all readers had them

    void leave_behind() noexcept {
        is_left_behind = true;
        if (task != nullptr) detail::make_ready(*std::exchange(task, nullptr));
    }
};
using DeliveryWaits = std::list<std::shared_ptr<DeliveryWait>>;  // moves from list to list without an allocation

struct Publication {
    std::uint64_t bytes = 0;
    Store::Packer pack;               // or the following
    std::byte const* data = nullptr;  // contiguous data, or
    Store::DataSource bring;
    DataHash hash{};  // what readers compare; of data from elsewhere: as they were brought first
    int readers = 0;
    int readers_left = 0;  // readers that have not been sent it yet
    int on_their_way = 0;  // messages on their way to readers
    bool withdrawn = false;
    DeliveryWaits waiting;  // called when all readers have it
};

/// A reader's request, kept until its data is published.
struct Request {
    int peer;
    Control control;
};
using Requests = std::list<Request>;

class Publications {
  public:
    /// Throws Error(invalid_argument) if the name is in use, and std::bad_alloc. All that follows allocates nothing,
    /// unless it says so.
    Publication& add(Name const& name, Publication&& publication);
    Publication* find(Name const& name);
    /// The publication whose data are on their way, which may have been withdrawn meanwhile.
    Publication& on_its_way(Name const& name) { return published_.at(name); }
    /// Returns why the program may publish nothing of that epoch any more; nothing if it may.
    std::optional<std::string> why_over(Name const& name) const;
    /// Whether `name` can no longer be fetched.
    bool is_refused(Name const& name) const;
    /// Returns why. May throw std::bad_alloc.
    std::string refusal(Name const& name) const;

    /// Keeps the only one of `request`. May throw std::bad_alloc.
    void keep_early(Requests&& request);
    Requests take_early(Name const& name);
    /// Returns the requests that can no longer be fulfilled.
    Requests take_refused();

    /// Counts a reader as served. Removes the publication after the last one, and returns the tasks and callbacks that
    /// waited for that.
    DeliveryWaits count_reader(Name const& name);
    DeliveryWaits withdraw(Name const& name);
    /// Ends all waits by an error. The store is destroyed.
    void leave_waits_behind() noexcept;
    /// Counts a message as arrived.
    DeliveryWaits arrived(Name const& name);
    /// A message on its way was refused: its reader must be served again.
    DeliveryWaits take_back(Name const& name);

    void close(std::uint64_t epoch);
    void finish() { finished_ = true; }
    /// Nothing more will be published, because of the exception `why`; empty: it may be again.
    void give_up(std::string const& why) { given_up_ = why; }

    std::size_t size() const noexcept { return published_.size(); }
    bool has(Name const& name) const { return published_.contains(name); }
    /// Whether a reader, which may come at any time, runs code of the program or ends a wait here.
    bool may_call() const noexcept;
    /// Sets `oldest` to what has waited longest for readers, if that is older. `rank` is this one.
    void find_oldest(int rank, OldestWait& oldest) const;
    template <typename Act>
    void for_each_early_of(int peer, Act const& act) const {
        for (auto const& [name, requests] : early_)
            for (Request const& request : requests)
                if (request.peer == peer) act(request);
    }
    template <typename Act>
    void for_each(Act const& act) const {
        for (auto const& [name, publication] : published_)
            act(name, publication);
    }

  private:
    bool is_closed(Name const& name) const { return closed_ && name.epoch <= *closed_; }
    bool is_withdrawn(Name const& name) const {
        auto const at = published_.find(name);
        return at != published_.end() && at->second.withdrawn;
    }
    DeliveryWaits forget_if_over(Name const& name);

    std::unordered_map<Name, Publication, NameHash> published_;
    std::unordered_map<Name, Requests, NameHash> early_;
    RecentKeys<Name> over_;
    std::optional<std::uint64_t> closed_;  // epochs up to this one are closed
    bool finished_ = false;
    std::string given_up_;
};

}  // namespace sluice::fetch
