// SPDX-License-Identifier: BSD-3-Clause
#include "cli/memory/rows.hpp"

#include <array>
#include <utility>

namespace sluice::cli {

namespace {

using Row = nlohmann::ordered_json;

char const* name_of(Peers peers) {
    return peers == Peers::node ? "node" : "network";
}

Row spread_row(Spread const& spread) {
    return Row{{"min", spread.min}, {"median", spread.median}, {"max", spread.max}};
}

Row interval_row(Interval const& interval) {
    return Row{{"value", interval.value}, {"low", interval.low}, {"high", interval.high}};
}

Row head(char const* kind, MemoryReport const& report, Item const& item) {
    return Row{{"memory", kind}, {"mpi", report.mpi}, {"peers", name_of(report.peers)}, {"case", item.name}};
}

}  // namespace

std::vector<Row> memory_rows(MemoryReport const& report) {
    static constexpr std::array quantities{"private_rank", "shared_node", "files_node"};
    std::vector<Row> rows;
    for (ItemStudy const& study : report.studies) {
        for (Measured const& point : study.measured) {
            Row row = head("measured", report, study.item);
            row["ranks"] = point.ranks;
            row["runs"] = point.runs;
            row["private_rank"] = spread_row(point.private_rank);
            row["private_worst"] = spread_row(point.private_worst);
            row["shared_node"] = spread_row(point.shared_node);
            row["files_node"] = spread_row(point.files_node);
            row["heap_rank"] = spread_row(point.heap_rank);
            rows.push_back(row);
        }
        for (std::size_t i = 0; i < study.laws.size(); ++i) {
            Row row = head("law", report, study.item);
            row["quantity"] = quantities.at(i);
            row["law"] = name_of(study.laws[i].law());
            row["coefficients"] = study.laws[i].coefficients();
            row["residual"] = study.laws[i].residual();
            rows.push_back(row);
        }
        if (report.predicted_ranks > 0 && !study.laws.empty()) {
            Prediction const prediction = predict(study, report.predicted_ranks, report.per_node);
            Row row = head("prediction", report, study.item);
            row["ranks"] = report.predicted_ranks;
            row["per_node"] = report.per_node;
            row["rank_bytes"] = interval_row(prediction.rank);
            row["node_bytes"] = interval_row(prediction.node);
            row["beyond"] = prediction.beyond;
            row["node_beyond"] = prediction.node_beyond;
            rows.push_back(row);
        }
    }
    for (auto const& [phase, why] : report.refused)
        rows.push_back(Row{{"memory", "refused"},
                           {"mpi", report.mpi},
                           {"peers", name_of(report.peers)},
                           {"case", phase},
                           {"why", why}});
    return rows;
}

}  // namespace sluice::cli
