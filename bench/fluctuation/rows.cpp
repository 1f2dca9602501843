// SPDX-License-Identifier: BSD-3-Clause
#include "fluctuation/rows.hpp"

#include <algorithm>

#include "support/statistics.hpp"

namespace sluice::bench {

namespace {

using Results = std::vector<MeasuredMethod>;
using Part = FluctuationMethod::Part;

MeasuredMethod const* find(Results const& results, auto const& condition) {
    auto const found = std::find_if(results.begin(), results.end(), condition);
    return found == results.end() ? nullptr : &*found;
}

void name_method(Row& row, MeasuredMethod const& result) {
    if (result.method.settings.tokens > 0) row["tokens"] = result.method.settings.tokens;
    if (!result.method.text.empty()) row["settings"] = result.method.text;
    if (result.beside_neighbour) row["beside_neighbour"] = true;
}

/// Returns which part of the shorter of the two times passed during the longer one: (compute + exchange - whole) / the
/// shorter.
std::vector<double> overlap(MeasuredMethod const& whole, MeasuredMethod const& compute,
                            MeasuredMethod const& exchange) {
    std::vector<double> parts;
    for (std::size_t i = 0; i < whole.seconds.size(); ++i)
        parts.push_back((compute.seconds[i] + exchange.seconds[i] - whole.seconds[i]) /
                        std::min(compute.seconds[i], exchange.seconds[i]));
    return parts;
}

Row method_row(Row row, RelaxationPlan const& plan, MeasuredMethod const& result, Results const& all) {
    row["method"] = result.method.name;
    name_method(row, result);
    row["seconds"] = spread_row(result.seconds);
    row["steps"] = plan.steps;
    if (result.method.part != Part::compute) {
        row["extra_bytes"] = result.extra_bytes();
        row["extra_counted"] = result.counted_bytes;
        row["extra_resident"] = result.resident_bytes;
        row["bytes_moved"] = bytes_moved(plan.box);
    }
    row["major_faults"] = result.major_faults;
    if (result.beside_neighbour) {
        row["neighbour_bytes"] = plan.neighbour_bytes;
        row["neighbour_rounds"] = result.neighbour_rounds;
    }
    auto const points = static_cast<double>(plan.box.cube_points()) * plan.box.count();
    auto const ranks = static_cast<double>(plan.box.ranks);
    row["bytes_per_rank"] = static_cast<std::uint64_t>(2 * sizeof(double) * points / ranks);
    if (result.method.part == Part::whole) {
        row["updates_per_second_per_rank"] = points / ranks / spread_of(result.seconds).median;
        row["checksum"] = result.checksum;
    }
    auto const alone = [&](Part part) {
        return find(all, [&](MeasuredMethod const& r) { return r.method.part == part && !r.beside_neighbour; });
    };
    MeasuredMethod const* const compute = alone(Part::compute);
    MeasuredMethod const* const exchange = alone(Part::exchange);
    if (compute != nullptr && exchange != nullptr && result.method.part == Part::whole)
        row["overlap"] = spread_row(overlap(result, *compute, *exchange));
    row["outcome"] = "ok";
    return row;
}

std::string label(MeasuredMethod const& result) {
    return result.method.name + (result.beside_neighbour ? "_beside_neighbour" : "");
}

Row ratio_row(Row row, MeasuredMethod const& ours, MeasuredMethod const& theirs) {
    row["ratio"] = label(ours) + "/" + label(theirs);
    name_method(row, ours);
    row["time"] = spread_row(pairwise_ratios(ours.seconds, theirs.seconds));
    if (theirs.extra_bytes() > 0)
        row["extra_bytes"] = static_cast<double>(ours.extra_bytes()) / static_cast<double>(theirs.extra_bytes());
    return row;
}

}  // namespace

std::vector<Row> fluctuation_rows(Row const& cell, RelaxationPlan const& plan, Results const& results) {
    std::vector<Row> rows;
    for (MeasuredMethod const& result : results)
        rows.push_back(method_row(cell, plan, result, results));
    MeasuredMethod const* other = find(results, [](auto const& r) { return r.method.name == "at_once"; });
    if (other == nullptr) other = find(results, [](auto const& r) { return r.method.part == Part::whole; });
    for (MeasuredMethod const& result : results) {
        if (result.method.part != Part::whole) continue;
        if (result.beside_neighbour) {
            rows.push_back(ratio_row(cell, result, *(&result - 1)));  // the ratio to the same method without a
                                                                      // neighbour
        } else if (&result != other) {
            rows.push_back(ratio_row(cell, result, *other));
        }
    }
    return rows;
}

}  // namespace sluice::bench
