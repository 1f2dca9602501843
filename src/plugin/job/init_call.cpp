// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/job/init_call.hpp"

#include <algorithm>

namespace sluice::plugin {

namespace {

void begin_history(Watch& watch, std::uint32_t site, std::uint64_t began_us, Resident const& before,
                   Resident const& after) {
    record::RankRecord& record = watch.record();
    auto const kib = [](std::uint64_t bytes) { return static_cast<std::uint32_t>(bytes / 1024); };
    std::uint32_t const ours = kib(watch.memory().sluice());
    record.history[0] = {began_us, kib(before.all()), 0, 0, ours, 0, site};
    record.history[1] = {watch.clock().us_since_start(ticks()),
                         kib(after.all()),
                         kib(record.head.init_private),
                         kib(record.head.init_shared),
                         ours,
                         0,
                         site};
    record.head.history = 2;
}

}  // namespace

void account_for_init(Watch& watch, InitCall const& init, MemoryWatch::Reading const& after, bool with_history) {
    record::RankRecord& record = watch.record();
    record.head.before_init = init.before.all.all();
    record.head.init_private = grown(init.before.others.private_bytes, after.others.private_bytes);
    record.head.init_shared = grown(init.before.others.shared_bytes, after.others.shared_bytes);
    watch.memory().mpi_private = record.head.init_private;
    watch.memory().mpi_shared = record.head.init_shared;
    std::uint32_t const index = watch.sites().of(init.function, init.caller);
    record::Site& site = record.sites[index];
    site.calls = 1;
    site.time_ns = watch.clock().ns(ticks() - init.began);
    site.longest_ns = site.time_ns;
    site.grown_private = record.head.init_private;
    site.grown_shared = record.head.init_shared;
    site.last_us = watch.clock().us_since_start(ticks());
    record.head.time_in_mpi_ns = site.time_ns;
    std::uint64_t const began_us = watch.clock().us_since_start(init.began);
    watch.keep_event(index, began_us, site.time_ns / 1000, 0);
    if (with_history) begin_history(watch, index, began_us, init.before.all, after.all);
}

std::uint64_t grown(std::uint64_t from, std::uint64_t to, std::int64_t before) noexcept {
    std::int64_t const bytes = before + static_cast<std::int64_t>(to) - static_cast<std::int64_t>(from);
    return static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0));
}

}  // namespace sluice::plugin
