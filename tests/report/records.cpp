// SPDX-License-Identifier: BSD-3-Clause
#include "report/records.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>

#include "record/counters.hpp"

namespace sluice::report {

namespace {

constexpr std::uint32_t k_mib = 1024;  // KiB
constexpr std::uint64_t k_end_us = 12'000'000;
constexpr std::uint64_t k_interval_us = 10'000;

record::Site& add_site(record::RankRecord& record, std::uint32_t function, record::Kind kind, char const* place) {
    record::Site& site = record.sites[record.head.sites++];
    site.address = 0x1000 + record.head.sites;
    site.function = function;
    site.kind = kind;
    std::strncpy(site.place.data(), place, site.place.size() - 1);
    site.first_us = 100'000;
    site.last_us = k_end_us - 100'000;
    return site;
}

void count(record::Site& site, std::uint64_t calls, std::uint64_t bytes_each, std::uint64_t us_each, double waiting) {
    site.calls = calls;
    site.bytes_out = calls * bytes_each;
    site.bytes_in = calls * bytes_each;
    site.time_ns = calls * us_each * 1000;
    site.waiting_ns = static_cast<std::uint64_t>(static_cast<double>(site.time_ns) * waiting);
    site.longest_ns = std::min(us_each * 3000, site.time_ns);
    std::size_t bucket = 0;
    while ((std::uint64_t{1} << bucket) <= bytes_each)
        ++bucket;
    site.sizes[std::min(bucket, record::k_sizes - 1)] = static_cast<std::uint32_t>(calls);
}

/// Returns 1 at the peak of the steps, which come every 0.4 s; the highest value is at 8 s.
double pulse(std::uint64_t time_us) {
    double const phase = std::fmod(static_cast<double>(time_us) / 4e5, 1.0);
    double const shape = phase < 0.35 ? std::sin(phase / 0.35 * 3.14159265) : 0.0;
    double const hill = 1 - std::abs(static_cast<double>(time_us) - 8e6) / 2e7;
    return shape * hill;
}

record::Sample healthy_at(std::uint32_t rank, std::uint64_t time_us) {
    record::Sample sample;
    sample.time_us = time_us;
    double const begun = std::min(1.0, static_cast<double>(time_us) / 1e6);
    sample.in_flight = static_cast<std::uint32_t>(pulse(time_us) * 120 * k_mib);
    sample.mpi_private = 24 * k_mib;
    sample.mpi_shared = 16 * k_mib + (rank % 3) * k_mib;
    sample.sluice = 640;
    sample.pinned = 31 * k_mib;
    sample.left_pinned = static_cast<std::uint32_t>(begun * 150 * k_mib);
    sample.used_at_once = sample.in_flight;
    std::uint32_t const application =
        static_cast<std::uint32_t>(begun * 200 * k_mib) + rank * 4 * k_mib + sample.in_flight;
    sample.resident = application + sample.mpi_private + sample.mpi_shared + sample.sluice;
    sample.site = sample.in_flight > 20 * k_mib ? 4 : (time_us / 100'000) % 3 == 0 ? 2 : record::k_no_site;
    return sample;
}

record::Sample flooded_at(std::uint32_t rank, std::uint64_t time_us) {
    record::Sample sample = healthy_at(rank, time_us);
    sample.site = rank == 0 ? 2 : 1;
    if (rank != 0 || time_us < 4'000'000) return sample;
    auto const grown = static_cast<std::uint32_t>((time_us - 4'000'000) * 120 * k_mib / 1'000'000);
    sample.mpi_private += grown;
    sample.resident += grown;
    return sample;
}

record::Sample stood_at(std::uint32_t rank, std::uint64_t time_us) {
    record::Sample sample;
    sample.time_us = time_us;
    sample.mpi_private = 3 * k_mib;
    sample.files = 20 * k_mib;
    sample.sluice = 640;
    std::uint64_t const climbed = std::clamp<std::uint64_t>(time_us, 1'150'000, 4'000'000) - 1'150'000;
    std::uint32_t const application =
        105 * k_mib + (rank == 1 ? static_cast<std::uint32_t>(climbed * 267 * k_mib / 2'850'000) : 0);
    sample.resident = application + sample.mpi_private + sample.files + sample.sluice;
    sample.site = rank == 1 ? record::k_no_site : 2;
    return sample;
}

record::Sample sample_at(Story story, std::uint32_t rank, std::uint64_t time_us) {
    switch (story) {
        case Story::healthy:
        case Story::early:
            return healthy_at(rank, time_us);
        case Story::flooded:
            return flooded_at(rank, time_us);
        case Story::stood:
            break;
    }
    return stood_at(rank, time_us);
}

void add_samples(record::RankRecord& record, Story story) {
    record::RankHead& head = record.head;
    std::uint64_t const all = k_end_us / k_interval_us;
    head.history_interval_us = 2 * k_interval_us;
    for (std::uint64_t i = 0; i <= all; ++i) {
        std::uint64_t const time = i * k_interval_us;
        record::Sample const sample = sample_at(story, head.world_rank, time);
        if (i % 2 == 0 && head.history < record::k_history) record.history[head.history++] = sample;
        record.recent[head.recent++ % record::k_recent] = sample;
        if (sample.resident > head.peak.resident) head.peak = sample;
        head.peak_sluice_fixed = 512;
    }
}

void add_comms(record::RankRecord& record) {
    record::RankHead& head = record.head;
    auto const add = [&](std::uint32_t root, std::uint32_t number, std::uint32_t size, std::uint32_t first,
                         std::int32_t stride) {
        record::Comm& comm = record.comms[head.comms++];
        std::uint32_t const mine = (head.world_rank - first) / static_cast<std::uint32_t>(stride);
        comm = {root, number, size, mine, first, stride, 5, 96, 200'000 + 1000 * number, 0, 0, 0};
        record::ObjectCount& made = head.objects[static_cast<std::size_t>(record::Object::communicator)];
        ++made.made;
        made.grown += 96 << 10;
    };
    std::uint32_t const rank = head.world_rank;
    add(0, 0, head.world_size, 0, 1);
    add(rank / 2 * 2, rank < 2 ? 1 : 0, std::min(2U, head.world_size - rank / 2 * 2), rank / 2 * 2, 1);
}

void add_events(record::RankRecord& record) {
    for (std::uint64_t time = 0; time < k_end_us; time += 400'000) {
        record.events[record.head.events++ % record::k_events] = {time, 140'000, 4, 60U << 20};
        record.events[record.head.events++ % record::k_events] = {time + 200'000, 60'000, 3, 1U << 20};
    }
}

void add_peers(record::RankRecord& record) {
    std::uint32_t const size = record.head.world_size;
    std::uint32_t const bins = std::min<std::uint32_t>(size, record::k_peers);
    std::uint32_t const own = record::bin_of(record.head.world_rank, size);
    for (std::uint32_t bin = 0; bin < bins; ++bin) {
        if (bin == own) continue;
        std::uint32_t const distance = bin > own ? bin - own : own - bin;
        bool const neighbour = distance == 1 || distance == bins - 1;
        std::uint64_t const bytes = std::uint64_t{32} << 20;
        record.peers[bin] = {neighbour ? bytes : bytes / bins, neighbour ? 4000U : 30U};
    }
}

void add_calls(record::RankRecord& record, Story story) {
    record::RankHead& head = record.head;
    bool const late = head.world_rank + 1 == head.world_size;
    record::Site& other = record.sites[head.sites++];  // site 0 collects the rest
    other.calls = 3;
    other.time_ns = 1000;
    count(add_site(record, 1, record::Kind::send, "exchange_halo+0x5f (app)"), 4000, 16 << 10, 20, 0.0);
    record::Site& receive = add_site(record, 2, record::Kind::receive, "drain+0x1c (app)");
    count(receive, 2000, 16 << 10, late ? 20 : 400, 0.7);
    count(add_site(record, 3, record::Kind::completion, "exchange_halo+0xa2 (app)"), 4000, 0, late ? 30 : 500, 0.9);
    record::Site& transpose = add_site(record, 4, record::Kind::collective, "transpose+0x244 (libfield.so)");
    count(transpose, 30, 2 << 20, 60'000, 0.2);
    transpose.in_flight_peak = std::uint64_t{120} << 20;
    transpose.unplaced_bytes = std::uint64_t{30} << 20;
    record::Site& dup = add_site(record, 5, record::Kind::communicator, "setup</script><b>&(app)");
    count(dup, 2, 0, 300, 0.1);
    dup.grown_private = 192 << 10;
    if (story == Story::early) {
        head.peak_seen = record::PeakSeen::before_init;
        head.huge_kib = head.world_rank == 1 ? 64 << 10 : 0;
        receive.deferred = 40 + head.world_rank;
        receive.hidden_ns = 300'000'000 + std::uint64_t{100'000'000} * head.world_rank;
        receive.left_ns = 20'000'000;
        receive.moving_ns = 700'000;
        dup.object = record::Object::communicator;
        dup.made = 2;
        head.objects[static_cast<std::size_t>(record::Object::datatype)] = {60, 20, 3 << 20, 3 << 20, 1 << 20};
    }
    if (story == Story::flooded && head.world_rank == 0) {
        receive.grown_private = std::uint64_t{960} << 20;
        receive.growing_since_us = 4'000'000;
    }
    for (std::uint64_t i = 0; i < head.sites; ++i) {
        head.time_in_mpi_ns += record.sites[i].time_ns;
        head.waiting_ns += record.sites[i].waiting_ns;
    }
}

}  // namespace

RecordPointer make_record(std::uint32_t rank, std::uint32_t world_size, Story story) {
    auto record = std::make_unique<record::RankRecord>();
    record::RankHead& head = record->head;
    head.used = 1;
    head.world_rank = rank;
    head.world_size = world_size;
    head.start_unix_us = 1'700'000'000'000'000 + rank;
    head.now_us = k_end_us;
    std::strncpy(head.mpi.data(), "Open MPI 4.1.4", head.mpi.size() - 1);
    head.processors = 4;
    head.memory_limit = std::uint64_t{2} << 30;
    head.before_init = 8 << 20;
    head.init_private = 12 << 20;
    head.init_shared = 16 << 20;
    add_calls(*record, story);
    add_samples(*record, story);
    add_comms(*record);
    add_peers(*record);
    add_events(*record);
    bool const ends = story == Story::healthy || story == Story::early;
    if (ends) {
        head.state = record::State::ended;
        head.end_us = k_end_us;
        head.served_calls = 30;
        head.served_bytes = std::uint64_t{30} * (60 << 20);
        head.saved_bytes = std::uint64_t{60} << 20;
        record::counter_in(*record, "checks of collectives", "calls compared") = 10 + rank;
        record::counter_in(*record, "all-to-alls in place", "calls served") = 30;
        record::counter_in(*record, "all-to-alls in place", "nonblocking calls copied") = 0;
        record::counter_in(*record, "a service that did nothing", "calls served") = 0;
    } else {
        head.state = record::State::running;
        head.current_site = rank == 0 ? 2 : 1;
        head.current_since_us = rank == 0 ? 11'900'000 : 10'000'000;
    }
    return record;
}

void write_node_files(std::filesystem::path const& folder, std::uint32_t world_size, std::uint32_t ranks_per_node,
                      Story story) {
    for (std::uint32_t first = 0, node = 0; first < world_size; first += ranks_per_node, ++node) {
        std::ofstream file(folder / ("node-" + std::to_string(node) + ".sluice"), std::ios::binary);
        record::NodeHeader header;
        header.magic = record::k_magic;
        header.format = record::k_format;
        header.record_bytes = sizeof(record::RankRecord);
        header.claimed = std::min(ranks_per_node, world_size - first);
        file.write(reinterpret_cast<char const*>(&header), sizeof header);
        for (std::uint32_t i = 0; i < header.claimed; ++i)
            file.write(reinterpret_cast<char const*>(make_record(first + i, world_size, story).get()),
                       sizeof(record::RankRecord));
    }
}

std::filesystem::path fresh_folder(std::string const& name) {
    std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("sluice-report-" + std::to_string(getpid()) + "-" + name);
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    return folder;
}

}  // namespace sluice::report
