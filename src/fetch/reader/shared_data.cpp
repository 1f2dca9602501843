// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/reader/shared_data.hpp"

#include <algorithm>
#include <utility>

namespace sluice::fetch {

std::shared_ptr<Buffer> SharedData::find(Key const& key) {
    auto const at = entries_.find(key);
    if (at == entries_.end()) return nullptr;
    std::shared_ptr<Buffer> buffer = at->second.buffer.lock();
    if (!buffer) entries_.erase(at);
    return buffer;
}

bool SharedData::contains(Key const& key) const {
    auto const at = entries_.find(key);
    return at != entries_.end() && !at->second.buffer.expired();
}

void SharedData::add(Key const& key, std::shared_ptr<Buffer> const& buffer) {
    if (Entry& entry = entries_[key]; entry.buffer.expired()) entry.buffer = buffer;
    if (entries_.size() >= sweep_at_) sweep();
}

/// Removes entries of freed data, so that the table has at most twice as many entries as there are live data.
void SharedData::sweep() {
    std::erase_if(entries_, [](auto const& entry) { return entry.second.buffer.expired(); });
    sweep_at_ = std::max(k_least_to_sweep, 2 * entries_.size());
}

std::vector<Fetch> SharedData::take_waiting(Key const& key, std::shared_ptr<Buffer> const& buffer) {
    auto const at = entries_.find(key);
    if (at == entries_.end() || at->second.buffer.lock() != buffer) return {};
    return std::exchange(at->second.waiting, {});
}

std::span<Fetch const> SharedData::waiting_for(Key const& key, std::shared_ptr<Buffer> const& buffer) const {
    auto const at = entries_.find(key);
    if (at == entries_.end() || at->second.buffer.lock() != buffer) return {};
    return at->second.waiting;
}

std::vector<Fetch> SharedData::remove(Key const& key, std::shared_ptr<Buffer> const& buffer) {
    auto const at = entries_.find(key);
    if (at == entries_.end() || at->second.buffer.lock() != buffer) return {};
    std::vector<Fetch> waiting = std::move(at->second.waiting);
    entries_.erase(at);
    return waiting;
}

}  // namespace sluice::fetch
