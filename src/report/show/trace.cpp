// SPDX-License-Identifier: BSD-3-Clause
#include "report/show/trace.hpp"

#include <nlohmann/json.hpp>

#include "report/show/words.hpp"
#include "report/summary/summary_json.hpp"

namespace sluice::report {

namespace {

using nlohmann::json;

/// Writes the events and the commas between them.
class Lines {
  public:
    explicit Lines(std::ostream& out) : out_(out) {}
    void put(json const& event) {
        out_ << (first_ ? "\n" : ",\n") << event.dump();
        first_ = false;
    }

  private:
    std::ostream& out_;
    bool first_ = true;
};

void put_names(Lines& lines, RankDetail const& rank) {
    std::string const name = "rank " + std::to_string(rank.rank);
    lines.put({{"ph", "M"}, {"name", "process_name"}, {"pid", rank.rank}, {"args", {{"name", name}}}});
    lines.put({{"ph", "M"}, {"name", "process_sort_index"}, {"pid", rank.rank}, {"args", {{"sort_index", rank.rank}}}});
    lines.put(
        {{"ph", "M"}, {"name", "thread_name"}, {"pid", rank.rank}, {"tid", 1}, {"args", {{"name", "MPI calls"}}}});
}

void put_calls(Lines& lines, Summary const& summary, RankDetail const& rank) {
    for (record::Event const& event : rank.events) {
        SiteSum const* const site =
            event.site < rank.site_ids.size() ? summary.site(rank.site_ids[event.site]) : nullptr;
        json args{{"bytes", event.bytes}};
        if (site != nullptr) args["place"] = site->place;
        lines.put({{"ph", "X"},
                   {"name", site != nullptr ? site->function : "other calls"},
                   {"cat", name_of(site != nullptr ? site->kind : record::Kind::other)},
                   {"pid", rank.rank},
                   {"tid", 1},
                   {"ts", event.start_us},
                   {"dur", event.duration_us},
                   {"args", args}});
    }
}

void put_memory(Lines& lines, RankDetail const& rank) {
    for (record::Sample const& sample : rank.curve) {
        auto const mib = [](std::uint32_t kib) { return static_cast<double>(kib) / 1024; };
        lines.put({{"ph", "C"},
                   {"name", "memory, MiB"},
                   {"pid", rank.rank},
                   {"ts", sample.time_us},
                   {"args",
                    {{"application", mib(part_of(sample, Owner::application))},
                     {"MPI private", mib(sample.mpi_private)},
                     {"MPI shared", mib(sample.mpi_shared)},
                     {"libraries and files", mib(sample.files)},
                     {"Sluice", mib(sample.sluice)}}}});
        lines.put({{"ph", "C"},
                   {"name", "in flight, MiB"},
                   {"pid", rank.rank},
                   {"ts", sample.time_us},
                   {"args", {{"in flight", mib(sample.in_flight)}}}});
    }
}

/// Writes a call that never returned: the rank's last.
void put_last_call(Lines& lines, Summary const& summary, RankDetail const& rank) {
    SiteSum const* const site = summary.site(rank.current_site);
    if (site == nullptr || rank.state == record::State::ended || rank.now_us < rank.current_since_us) return;
    lines.put({{"ph", "X"},
               {"name", site->function + " (did not return)"},
               {"cat", name_of(site->kind)},
               {"pid", rank.rank},
               {"tid", 1},
               {"ts", rank.current_since_us},
               {"dur", rank.now_us - rank.current_since_us},
               {"args", {{"place", site->place}}}});
}

}  // namespace

void write_trace(Summary const& summary, std::ostream& out) {
    out << R"({"displayTimeUnit":"ms","traceEvents":[)";
    Lines lines(out);
    for (RankDetail const& rank : summary.ranks) {
        put_names(lines, rank);
        put_calls(lines, summary, rank);
        put_last_call(lines, summary, rank);
        put_memory(lines, rank);
    }
    out << "\n]}\n";
}

}  // namespace sluice::report
