// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/memory/rows.hpp"

namespace sluice::cli {

namespace {

constexpr double k_kib = 1024;
constexpr double k_mib = 1024 * 1024;
/// A prediction beyond this factor of the measured range is called far.
constexpr double k_far = 4;

double unit_of(Item const& item) {
    return item.kind == ItemKind::process ? k_mib : k_kib;
}

char const* unit_name(Item const& item) {
    return item.kind == ItemKind::process ? "MiB" : "KiB";
}

std::string range(Spread const& spread, double unit) {
    return fmt::format("{:.2f} ({:.2f} … {:.2f})", spread.median / unit, spread.min / unit, spread.max / unit);
}

/// fmt counts "…" as one column, as a terminal does.
std::string measured_table(MemoryReport const& report, ItemKind kind) {
    std::string text = fmt::format("  {:<40} {:>5}  {:<24} {:>8}  {:<24} {:>8} {:>8}\n",
                                   kind == ItemKind::process ? "MiB" : "KiB for one", "ranks", "private, a rank (runs)",
                                   "worst", "shared, the node (runs)", "files", "malloc");
    for (ItemStudy const& study : report.studies) {
        if (study.item.kind != kind) continue;
        double const unit = unit_of(study.item);
        std::string name = study.item.name;
        for (Measured const& point : study.measured) {
            text += fmt::format("  {:<40} {:>5}  {:<24} {:>8.2f}  {:<24} {:>8.2f} {:>8.2f}\n", name, point.ranks,
                                range(point.private_rank, unit), point.private_worst.median / unit,
                                range(point.shared_node, unit), point.files_node.median / unit,
                                point.heap_rank.median / unit);
            name.clear();
        }
    }
    return text;
}

std::string formula(Fit const& law, double unit) {
    static constexpr std::array powers{"", " P", " P²"};
    std::string text;
    for (std::size_t i = 0; i <= static_cast<std::size_t>(law.law()); ++i) {
        double const value = law.coefficients().at(i) / unit;
        if (text.empty()) {
            text = fmt::format("{:.4g}", value);
        } else {
            text += fmt::format(" {} {:.3g}{}", value < 0 ? "−" : "+", std::abs(value), powers.at(i));
        }
    }
    return text + fmt::format(" ± {:.2g}", law.residual() / unit);
}

std::string law_table(MemoryReport const& report) {
    std::string text = fmt::format("  {:<26}      {:<30} {:<30} {:<30}\n", "laws", "private, a rank",
                                   "shared, the node", "files, the node");
    bool any = false;
    for (ItemStudy const& study : report.studies) {
        if (study.laws.empty()) continue;
        any = true;
        double const unit = unit_of(study.item);
        text += fmt::format("  {:<26} {}  {:<30} {:<30} {:<30}\n", study.item.name, unit_name(study.item),
                            formula(study.laws[0], unit), formula(study.laws[1], unit), formula(study.laws[2], unit));
    }
    return any ? text : "  no laws: they need three numbers of ranks or more (--ranks)\n";
}

std::string interval(Interval const& bytes, double unit) {
    return fmt::format("{:.2f} ({:.2f} … {:.2f})", bytes.value / unit, bytes.low / unit, bytes.high / unit);
}

std::string prediction_table(MemoryReport const& report) {
    if (report.predicted_ranks == 0) return {};
    std::string text = fmt::format("  {:<26}      {:<34} {:<34}\n",
                                   fmt::format("at {} ranks, {} a node", report.predicted_ranks, report.per_node),
                                   "a rank with its share of the node", "a node");
    double beyond = 0;
    double node_beyond = 0;
    for (ItemStudy const& study : report.studies) {
        if (study.laws.empty()) continue;
        Prediction const prediction = predict(study, report.predicted_ranks, report.per_node);
        double const unit = unit_of(study.item);
        text += fmt::format("  {:<26} {}  {:<34} {:<34}\n", study.item.name, unit_name(study.item),
                            interval(prediction.rank, unit), interval(prediction.node, unit));
        beyond = std::max(beyond, prediction.beyond);
        node_beyond = std::max(node_beyond, prediction.node_beyond);
    }
    if (beyond == 0) return "  nothing is predicted without laws\n";
    text += "  In brackets: where one further measurement would lie with 95 % if the laws hold there.\n";
    if (std::max(beyond, node_beyond) > k_far)
        text += fmt::format(
            "  This is FAR: {:.0f} times the ranks that were measured, {:.1f} times the ranks of a node. The brackets "
            "do not\n"
            "  cover that an MPI may behave differently there, for example by a limit on its connections.\n",
            beyond, node_beyond);
    text += report.peers == Peers::node
                ? "  All ranks shared memory: --peers network measures what peers on other nodes take.\n"
                : "  All peers were reached over tcp: ranks of one node also share segments (--peers node), and "
                  "other networks\n"
                  "  take other amounts.\n";
    return text;
}

}  // namespace

std::string memory_tables(MemoryReport const& report) {
    std::string text =
        fmt::format("{} · {} · {} · medians of {} runs\n", report.mpi, report.library,
                    report.peers == Peers::node ? "peers over shared memory" : "peers over tcp", report.runs);
    text += measured_table(report, ItemKind::process) + "\n";
    if (std::string const objects = measured_table(report, ItemKind::object); objects.find("\n  ") != std::string::npos)
        text += objects + "\n";
    text += law_table(report);
    if (std::string const predicted = prediction_table(report); !predicted.empty()) text += "\n" + predicted;
    for (auto const& [phase, why] : report.refused)
        text += fmt::format("  refused by {}: {} ({})\n", report.mpi, phase, why);
    return text;
}

}  // namespace sluice::cli
