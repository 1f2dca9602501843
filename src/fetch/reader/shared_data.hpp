// SPDX-License-Identifier: BSD-3-Clause
/// The data that a rank has fetched or is fetching, by key. Sets that ask for them again share them.
///
///     added ──> on their way, fetches of other sets wait ──> complete ──> freed by the last set that holds them
///                          └── refused: removed
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "fetch/reader/fetch_set.hpp"

namespace sluice::fetch {

/// Does not keep the data in memory: only the sets that hold them do.
class SharedData {
  public:
    /// Returns null if no data of that key are in memory or on their way.
    std::shared_ptr<Buffer> find(Key const& key);
    bool contains(Key const& key) const;
    /// Later sets share `buffer`, unless they share another one with that key already.
    void add(Key const& key, std::shared_ptr<Buffer> const& buffer);
    /// `fetch` waits until the data on their way are complete or refused.
    void wait(Fetch const& fetch) { entries_.at(fetch.request().key).waiting.push_back(fetch); }
    /// Returns the fetches that waited for `buffer`, which is complete.
    std::vector<Fetch> take_waiting(Key const& key, std::shared_ptr<Buffer> const& buffer);
    std::span<Fetch const> waiting_for(Key const& key, std::shared_ptr<Buffer> const& buffer) const;
    /// The same as take_waiting() for data that will not come.
    std::vector<Fetch> remove(Key const& key, std::shared_ptr<Buffer> const& buffer);

  private:
    struct Entry {
        std::weak_ptr<Buffer> buffer;
        std::vector<Fetch> waiting;
    };
    void sweep();

    static constexpr std::size_t k_least_to_sweep = 1024;
    std::unordered_map<Key, Entry, KeyHash> entries_;
    std::size_t sweep_at_ = k_least_to_sweep;
};

}  // namespace sluice::fetch
