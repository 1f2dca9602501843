// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/job/init_call.hpp"

#include <algorithm>

#include "plugin/binding/module.hpp"
#include "plugin/watch/peak.hpp"

namespace sluice::plugin {

namespace {

void begin_history(Watch& watch, std::uint32_t site, std::uint64_t began_us, InitCall const& init,
                   MemoryWatch::Reading const& after, KernelSays const& kernel) {
    record::RankRecord& record = watch.record();
    auto const kib = [](std::uint64_t bytes) { return static_cast<std::uint32_t>(bytes / 1024); };
    std::uint32_t const ours = kib(watch.memory().sluice());
    record::Sample first;
    first.time_us = began_us;
    first.resident = kib(init.before.all.all());
    first.files = kib(init.before.others.file_bytes);
    first.sluice = std::min(ours, first.resident - first.files);
    record::Sample second = first;
    second.time_us = watch.clock().us_since_start(ticks());
    second.resident = kib(after.all.all());
    second.mpi_private = kib(record.head.init_private);
    second.mpi_shared = kib(record.head.init_shared);
    second.files = kib(after.others.file_bytes);
    // A peak before MPI_Init was the program's, outside MPI.
    keep_peak(watch, first, init.kernel, true);
    first.site = site;
    second.site = site;
    // What MPI_Init gave back again was the MPI's.
    record::Sample highest = second;
    highest.resident = std::max(second.resident, kib(kernel.high_water));
    highest.mpi_private += highest.resident - second.resident;
    keep_peak(watch, highest, kernel);
    record.history[0] = first;
    record.history[1] = second;
    record.head.history = 2;
}

}  // namespace

void account_for_init(Watch& watch, InitCall const& init, MemoryWatch::Reading const& after, KernelSays const& kernel,
                      bool with_history) {
    record::RankRecord& record = watch.record();
    record.head.before_init = init.before.all.all();
    record.head.init_private = grown(init.before.others.private_bytes, after.others.private_bytes);
    record.head.init_shared = grown(init.before.others.shared_bytes, after.others.shared_bytes);
    record.head.init_files = grown(init.before.others.file_bytes, after.others.file_bytes);
    if (!init.had_compiler && has_module(k_compiler))
        record.head.init_compiler = record.head.init_private + record.head.init_shared + record.head.init_files;
    watch.memory().mpi_private = record.head.init_private;
    watch.memory().mpi_shared = record.head.init_shared;
    std::uint32_t const index = watch.sites().of(init.function, init.caller);
    record::Site& site = record.sites[index];
    site.calls = 1;
    site.time_ns = watch.clock().ns(ticks() - init.began);
    site.longest_ns = site.time_ns;
    site.held_private = site.grown_private = record.head.init_private;
    site.held_shared = site.grown_shared = record.head.init_shared;
    site.last_us = watch.clock().us_since_start(ticks());
    record.head.time_in_mpi_ns = site.time_ns;
    // A rank that is killed before its first call has lived so long.
    record.head.now_us = site.last_us;
    std::uint64_t const began_us = watch.clock().us_since_start(init.began);
    watch.keep_event(index, began_us, site.time_ns / 1000, 0);
    if (with_history) begin_history(watch, index, began_us, init, after, kernel);
}

std::uint64_t grown(std::uint64_t from, std::uint64_t to, std::int64_t before) noexcept {
    std::int64_t const bytes = before + static_cast<std::int64_t>(to) - static_cast<std::int64_t>(from);
    return static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0));
}

}  // namespace sluice::plugin
