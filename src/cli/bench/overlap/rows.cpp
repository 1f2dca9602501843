// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/overlap/rows.hpp"

#include <algorithm>

#include "cli/bench/overhead/median_interval.hpp"

namespace sluice::cli {

namespace {

/// Threads of the MPI have the name of the program, which the kernel cuts off.
constexpr char const* k_program_thread = "sluice-bench-ov";

Row row_of(OverlapPlace const& place, std::string const& name, std::uint64_t bytes, std::string const& word) {
    Row row{{"bench", "overlap"}, {"case", name}, {"ranks", 2}, {"mpi", place.mpi}, {"bed", place.bed}};
    if (place.rate_mbit > 0) row["rate_mbit"] = place.rate_mbit;
    row["bytes"] = bytes;
    row["overlap"] = word;
    return row;
}

Row spread(std::vector<double> values) {
    MedianInterval const of = median_interval(std::move(values));
    return {{"min", of.min}, {"median", of.median}, {"max", of.max}};
}

double median(std::vector<double> const& values) {
    return median_interval(values).median;
}

std::vector<double> ratios(std::vector<double> const& ours, std::vector<double> const& theirs) {
    std::vector<double> values;
    for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i)
        values.push_back(ours[i] / theirs[i]);
    return values;
}

/// In rows, what the program calls as any program does is Sluice's.
std::string shown(std::string const& method) {
    return method == "program" ? "sluice" : method == "started" ? "sluice_irecv" : method;
}

class CellRows {
  public:
    CellRows(OverlapPlace const& place, std::string const& word, OverlapRounds const& cell)
        : place_(place), word_(word), cell_(cell), shares_(shares_of(cell)) {}

    std::vector<Row> all(OverlapRounds const* plain) {
        for (auto const& [method, seconds] : cell_.seconds)
            add_method(method, seconds);
        for (char const* const method : {"irecv", "by_hand", "strips", "program", "started"})
            add_ratio(method, "blocking");
        for (char const* const peer : {"by_hand", "strips"})
            for (char const* const ours : {"program", "started"})
                add_ratio(ours, peer);
        if (plain != nullptr) add_control(*plain);
        return rows_;
    }

  private:
    Row& add() { return rows_.emplace_back(row_of(place_, cell_.name, cell_.bytes, word_)); }

    void add_method(std::string const& method, std::vector<double> const& seconds) {
        Row& row = add();
        row["method"] = shown(method);
        row["seconds"] = spread(seconds);
        row["rounds"] = seconds.size();
        row["outcome"] = "ok";
    }

    void add_ratio(std::string const& method, std::string const& peer) {
        auto const* const ours = cell_.find(method);
        auto const* const theirs = cell_.find(peer);
        auto const* const blocking = cell_.find("blocking");
        if (ours == nullptr || theirs == nullptr || blocking == nullptr) return;
        Row& row = add();
        row["ratio"] = shown(method) + "/" + peer;
        row["time"] = spread(ratios(*ours, *theirs));
        row["pairs"] = ours->size();
        row["hideable"] = shares_.hideable();
        if (!shares_.can_be_told()) return;
        double const hidden = shares_.hidden(median(*ours));
        row["hidden"] = hidden;
        double const by_peer = peer == "blocking" ? 0 : shares_.hidden(median(*theirs));
        if (by_peer >= OverlapShares::k_least_of_peer) row["hidden_of_" + peer] = hidden / by_peer;
    }

    void add_control(OverlapRounds const& plain) {
        for (char const* const method : {"blocking", "by_hand", "strips"}) {
            auto const* const here = cell_.find(method);
            auto const* const there = plain.find(method);
            if (here == nullptr || there == nullptr || here->empty() || there->empty()) continue;
            Row& row = add();
            row["ratio"] = std::string(method) + "/" + method + "_plain";
            row["time"] = spread({median(*here) / median(*there)});
        }
    }

    OverlapPlace const& place_;
    std::string const& word_;
    OverlapRounds const& cell_;
    OverlapShares shares_;
    std::vector<Row> rows_;
};

/// Rounds that a method of a launch which ended too early has more than the others have no partners.
OverlapRounds only_whole(OverlapRounds cell) {
    for (auto& [method, seconds] : cell.seconds)
        seconds.resize(std::min(seconds.size(), cell.whole()));
    return cell;
}

}  // namespace

OverlapShares shares_of(OverlapRounds const& cell) {
    auto const of = [&cell](char const* method) {
        auto const* const seconds = cell.find(method);
        return seconds != nullptr && !seconds->empty() ? median(*seconds) : 0;
    };
    OverlapShares shares;
    if (of("compute") == 0 || of("transfer") == 0) return shares;
    shares.blocking = of("blocking");
    shares.longer = std::max(of("compute"), of("transfer"));
    shares.shorter = std::min(of("compute"), of("transfer"));
    return shares;
}

std::vector<Row> cell_rows(OverlapPlace const& place, std::string const& word, OverlapLines const& under,
                           OverlapLines const& plain) {
    std::vector<Row> rows;
    for (OverlapRounds const& each : under.cells()) {
        OverlapRounds const cell = only_whole(each);
        if (cell.whole() == 0) continue;
        std::vector<Row> const of_cell = CellRows(place, word, cell).all(plain.find(cell.name, cell.bytes));
        rows.insert(rows.end(), of_cell.begin(), of_cell.end());
    }
    return rows;
}

std::vector<Row> latency_rows(OverlapPlace const& place, std::string const& word, OverlapLines const& lines) {
    if (lines.latency().empty()) return {};
    std::vector<double> times;
    std::vector<double> added;
    std::vector<double> straight_seconds;
    for (auto const& [program, straight] : lines.latency()) {
        times.push_back(program / straight);
        added.push_back(program - straight);
        straight_seconds.push_back(straight);
    }
    MedianInterval const of_added = median_interval(added);
    Row row = row_of(place, "latency", 8, word);
    row["ratio"] = "program/straight";
    row["time"] = spread(times);
    row["pairs"] = times.size();
    row["seconds_straight"] = median(straight_seconds);
    row["seconds_added"] = {{"low", of_added.low}, {"median", of_added.median}, {"high", of_added.high}};
    return {row};
}

std::vector<Row> idle_rows(OverlapPlace const& place, std::string const& word, OverlapLines const& lines) {
    if (lines.wake_ups().empty()) return {};
    Row row = row_of(place, "idle", 0, word);
    row.erase("bytes");
    row["seconds"] = 0.0;
    row["wake_ups"] = Row::object();
    double seconds = 0;
    for (OverlapWakeUps const& woken : lines.wake_ups()) {
        seconds = std::max(seconds, woken.seconds);
        if (woken.thread == k_program_thread) continue;
        auto const before = row["wake_ups"].contains(woken.thread) ? row["wake_ups"][woken.thread].get<std::uint64_t>()
                                                                   : std::uint64_t{0};
        row["wake_ups"][woken.thread] = before + woken.count;
    }
    row["seconds"] = seconds;
    return {row};
}

std::vector<Row> delay_rows(OverlapPlace const& place, std::string const& word, OverlapLines const& lines) {
    if (lines.cells().empty()) return {};
    Row row = row_of(place, "delayed", 0, word);
    row.erase("bytes");
    row["delayed"] = lines.delayed();
    return {row};
}

}  // namespace sluice::cli
