// SPDX-License-Identifier: BSD-3-Clause
#include "memory/registration/due_queue.hpp"

#include <algorithm>

namespace sluice::memory::registration {

DueQueue::DueQueue(Budget const& tables) : dues_(LeasedAllocator<Due>(tables)) {
    dues_.reserve(k_capacity);
}

void DueQueue::put(Prediction const& prediction, bool waits) {
    erase(prediction.signature);
    if (dues_.size() == k_capacity) dues_.pop_back();
    auto const at = std::upper_bound(dues_.begin(), dues_.end(), prediction.deadline,
                                     [](Time deadline, Due const& due) { return deadline < due.prediction.deadline; });
    dues_.insert(at, Due{prediction, prediction.deadline, prediction.deadline, waits});
}

bool DueQueue::erase(std::uint64_t signature) {
    auto const at =
        std::find_if(dues_.begin(), dues_.end(), [&](Due const& due) { return due.prediction.signature == signature; });
    if (at == dues_.end()) return false;
    dues_.erase(at);
    return true;
}

Due const* DueQueue::find(std::uint64_t signature) const noexcept {
    for (Due const& due : dues_)
        if (due.prediction.signature == signature) return &due;
    return nullptr;
}

Time DueQueue::earliest(Range region) const noexcept {
    Time earliest = Time::max();
    for (Due const& due : dues_)
        if (region.contains(due.prediction.range))
            earliest = std::min(earliest, due.waits ? due.prediction.expected : due.prediction.deadline);
    return earliest;
}

}  // namespace sluice::memory::registration
