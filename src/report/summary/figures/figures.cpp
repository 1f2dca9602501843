// SPDX-License-Identifier: BSD-3-Clause
#include "report/summary/figures/figures.hpp"

#include <algorithm>
#include <array>

#include "report/summary/growth.hpp"
#include "report/summary/memory_curve.hpp"

namespace sluice::report {

namespace {

using Record = record::RankRecord const&;

std::uint64_t most_of(Record record, std::uint32_t record::Sample::*of) {
    std::uint32_t most = 0;
    for (record::Sample const& sample : samples_of(record))
        most = std::max(most, sample.*of);
    return most;
}

constexpr std::array k_figures{
    // The parts of a peak are those at each rank's own.
    Figure{"peak_kib", &Summary::peak_kib, [](Record r) { return std::uint64_t{r.head.peak.resident}; },
           "peak of a rank", Compare::both},
    Figure{"application_kib", &Summary::application_kib,
           [](Record r) { return std::uint64_t{part_of(r.head.peak, Owner::application)}; }, "application at its peak",
           Compare::most},
    Figure{"mpi_private_kib", &Summary::mpi_private_kib,
           [](Record r) { return std::uint64_t{r.head.peak.mpi_private}; }, "MPI private", Compare::most},
    Figure{"mpi_shared_kib", &Summary::mpi_shared_kib, [](Record r) { return std::uint64_t{r.head.peak.mpi_shared}; },
           "MPI shared", Compare::most},
    Figure{"files_kib", &Summary::files_kib, [](Record r) { return std::uint64_t{r.head.peak.files}; },
           "libraries and files", Compare::most},
    Figure{"sluice_kib", &Summary::sluice_kib, [](Record r) { return std::uint64_t{r.head.peak.sluice}; }, "Sluice",
           Compare::most},
    Figure{"sluice_fixed_kib", &Summary::sluice_fixed_kib,
           [](Record r) { return std::uint64_t{r.head.peak_sluice_fixed}; }},
    Figure{"in_flight_kib", &Summary::in_flight_kib, [](Record r) { return std::uint64_t{r.head.peak.in_flight}; },
           "in flight at the peak", Compare::most},
    Figure{"pinned_kib", &Summary::pinned_kib, [](Record r) { return most_of(r, &record::Sample::pinned); }},
    Figure{"left_pinned_kib", &Summary::left_pinned_kib,
           [](Record r) { return most_of(r, &record::Sample::left_pinned); }},
    Figure{"used_at_once_kib", &Summary::used_at_once_kib,
           [](Record r) { return most_of(r, &record::Sample::used_at_once); }},
    Figure{"last_kib", &Summary::last_kib,
           [](Record r) {
               auto const samples = samples_of(r);
               return std::uint64_t{samples.empty() ? r.head.peak.resident : samples.back().resident};
           }},
    Figure{"huge_kib", &Summary::huge_kib, [](Record r) { return std::uint64_t{r.head.huge_kib}; }},
    Figure{"before_init_bytes", &Summary::before_init, [](Record r) { return r.head.before_init; }},
    Figure{"init_private_bytes", &Summary::init_private, [](Record r) { return r.head.init_private; }},
    Figure{"init_shared_bytes", &Summary::init_shared, [](Record r) { return r.head.init_shared; }},
    Figure{"init_files_bytes", &Summary::init_files, [](Record r) { return r.head.init_files; }},
    Figure{"init_compiler_bytes", &Summary::init_compiler, [](Record r) { return r.head.init_compiler; }},
    Figure{"time_in_mpi_ns", &Summary::time_in_mpi_ns,
           [](Record r) { return r.head.time_in_mpi_ns + open_call_of(r).ns; }, "time in MPI", Compare::mean},
    Figure{"waiting_ns", &Summary::waiting_ns, [](Record r) { return r.head.waiting_ns + open_call_of(r).waiting_ns; },
           "waiting", Compare::mean},
    Figure{"lived_us", &Summary::lived_us, [](Record r) { return std::max(r.head.now_us, r.head.end_us); }},
    Figure{"init_ns", &Summary::init_ns, [](Record r) { return init_ns_of(r); }},
    Figure{"saved_bytes", &Summary::saved_bytes, [](Record r) { return r.head.saved_bytes; }},
};

}  // namespace

std::span<Figure const> figures() {
    return k_figures;
}

/// Returns the time that the rank spent in MPI_Init.
std::uint64_t init_ns_of(record::RankRecord const& record) {
    std::uint64_t ns = 0;
    std::uint64_t const used = std::min<std::uint64_t>(record.head.sites, record::k_sites);
    for (std::uint64_t i = 0; i < used; ++i)
        if (record.sites[i].kind == record::Kind::setup) ns += record.sites[i].time_ns;
    return ns;
}

OpenCall open_call_of(record::RankRecord const& record) {
    record::RankHead const& head = record.head;
    bool const is_final = head.state == record::State::ended || head.state == record::State::exited;
    if (is_final || head.current_site >= record::k_sites || head.now_us <= head.current_since_us) return {};
    record::Kind const kind = record.sites[head.current_site].kind;
    bool const waits =
        kind == record::Kind::receive || kind == record::Kind::completion || kind == record::Kind::collective;
    std::uint64_t const ns = (head.now_us - head.current_since_us) * 1000;
    return {head.current_site, ns, waits ? ns : 0};
}

}  // namespace sluice::report
