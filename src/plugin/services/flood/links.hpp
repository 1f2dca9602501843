// SPDX-License-Identifier: BSD-3-Clause
/// The links of flood control: standard sends and their completion, and receives, which are counted.
#pragma once

#include "plugin/services/flood/control.hpp"
#include "plugin/services/flood/held_requests.hpp"
#include "plugin/services/flood/persistent_sends.hpp"
#include "plugin/services/flood/rooted.hpp"
#include "plugin/services/job.hpp"

namespace sluice::plugin {

struct Flood {
    Flood(Job& job, FloodControl::Terms terms, FloodControl::Counts counts, RootedCalls::Counts rooted_counts)
        : control(job, terms, counts),
          held(job, control),
          rooted(job.memory.budget(), job.watch.communicators(), terms.share / 2, terms.hold, rooted_counts) {}
    FloodControl control;
    HeldRequests held;
    PersistentSends persistent;
    RootedCalls rooted;
    std::mutex changing_persistent;
};

void add_flood_links(Job& job, Flood& flood) noexcept;
void remove_flood_links(Job& job, Flood& flood) noexcept;

}  // namespace sluice::plugin
