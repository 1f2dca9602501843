// SPDX-License-Identifier: BSD-3-Clause
#include "report/read/contradictions.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "report/summary/figures/figures.hpp"
#include "report/summary/memory_curve.hpp"
#include "report/summary/valid.hpp"

namespace sluice::report {

namespace {

class Contradictions {
  public:
    explicit Contradictions(record::RankRecord const& record) : record_(record) {}

    std::vector<std::string> take() {
        if (record_.head.peak.resident > 0) look_at_memory();
        for (std::uint64_t i = 0; i < std::min<std::uint64_t>(record_.head.sites, record::k_sites); ++i)
            look_at_times(record_.sites[i]);
        look_at_times();
        return std::move(said_);
    }

  private:
    void look_at_memory() {
        for (record::Sample const& sample : samples_of(record_)) {
            look_at(sample);
            if (sample.resident > record_.head.peak.resident && is_new(higher_))
                said_.push_back(fmt::format("at {} µs it had {} KiB, at its peak {} KiB", sample.time_us,
                                            sample.resident, record_.head.peak.resident));
        }
        look_at(record_.head.peak);
    }

    /// One line of each kind says enough.
    static bool is_new(bool& said) { return !std::exchange(said, true); }

    void look_at(record::Sample const& sample) {
        std::uint64_t const others =
            std::uint64_t{sample.mpi_private} + sample.mpi_shared + sample.files + sample.sluice;
        if (others > sample.resident) {
            if (is_new(parts_))
                said_.push_back(fmt::format("at {} µs MPI, files and Sluice had {} KiB of {} KiB", sample.time_us,
                                            others, sample.resident));
        } else if (sample.in_flight > sample.resident - others && is_new(flights_)) {
            said_.push_back(fmt::format("at {} µs {} KiB were in flight, of {} KiB of the application", sample.time_us,
                                        sample.in_flight, sample.resident - others));
        }
    }

    void look_at_times(record::Site const& site) {
        if ((site.waiting_ns > site.time_ns || site.longest_ns > site.time_ns) && is_new(waits_))
            said_.push_back(fmt::format("{} took {} ns, of which {} waiting, and one call {}", text_of(site.place),
                                        site.time_ns, site.waiting_ns, site.longest_ns));
    }

    void look_at_times() {
        record::RankHead const& head = record_.head;
        std::uint64_t const lived_us = std::max(head.now_us, head.end_us);
        if (init_ns_of(record_) / 1000 > lived_us)
            said_.push_back(
                fmt::format("MPI_Init took {} µs, and the rank lived for {}", init_ns_of(record_) / 1000, lived_us));
        if (head.waiting_ns > head.time_in_mpi_ns)
            said_.push_back(
                fmt::format("it waited for {} ns, and was in MPI for {}", head.waiting_ns, head.time_in_mpi_ns));
    }

    record::RankRecord const& record_;
    std::vector<std::string> said_;
    bool parts_ = false, flights_ = false, higher_ = false, waits_ = false;
};

}  // namespace

std::vector<std::string> contradictions_of(record::RankRecord const& record) {
    using enum record::State;
    record::State const state = record.head.state;
    if (state == running || state == finalizing || state == unknown) return {};
    return Contradictions(record).take();
}

}  // namespace sluice::report
