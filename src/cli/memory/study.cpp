// SPDX-License-Identifier: BSD-3-Clause
#include "cli/memory/study.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sluice::cli {

namespace {

constexpr double k_page_bytes = 4096;
constexpr std::size_t k_least_samples = 3;

double sum_of(std::vector<double> const& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

double mean_of(std::vector<double> const& values) {
    return sum_of(values) / static_cast<double>(values.size());
}

/// The user's bytes of a window are in shared segments or in private memory, as the MPI chooses: they are subtracted
/// from whichever is large enough.
void take_off_user_bytes(Amount& amount, double bytes, double ranks) {
    if (amount.shared_node >= 0.9 * bytes * ranks) {
        amount.shared_node -= bytes * ranks;
    } else {
        amount.private_rank -= bytes;
        amount.private_worst -= bytes;
        amount.heap_rank -= std::min(bytes, amount.heap_rank);
    }
}

Item process_item(std::string const& name, std::string const& to) {
    return {name, ItemKind::process, true, "before", to};
}

}  // namespace

std::vector<Item> items(ProbeObjects const& objects) {
    double const communicators = std::max(objects.communicators, 1);
    double const later = std::max(objects.communicators - objects.communicators / 2, 1);
    double const windows = std::max(objects.windows, 1);
    auto const bytes = static_cast<double>(objects.window_bytes);
    std::vector<Item> all{
        {"before MPI_Init", ItemKind::process, false, "", "before"},
        process_item("no communication", "init"),
        process_item("allreduce only", "reduced"),
        process_item("everybody to everybody", "talked"),
        {"ballast", ItemKind::process, false, "talked", "ballast"},
        {"communicator", ItemKind::object, true, "communicator_warm", "communicator_all", communicators},
        {"communicator, later ones", ItemKind::object, false, "communicator_half", "communicator_all", later},
        {"communicator, used", ItemKind::object, true, "communicator_warm", "communicator_used", communicators},
        {"communicator, kept when freed", ItemKind::object, false, "communicator_warm", "communicator_trimmed",
         communicators},
    };
    for (char const* const kind : {"create", "allocate", "shared"}) {
        std::string const phase = std::string("window_") + kind;
        std::string const name = std::string("window, ") + (kind == std::string("shared") ? "allocate_shared" : kind);
        double const user = kind == std::string("create") ? 0 : bytes;
        all.push_back({name, ItemKind::object, true, phase + "_warm", phase + "_all", windows, user});
        all.push_back(
            {name + ", kept when freed", ItemKind::object, false, phase + "_warm", phase + "_trimmed", windows});
    }
    return all;
}

std::vector<Amount> amount_of(Item const& item, ProbeRun const& run) {
    auto const to = run.phases.find(item.to);
    auto const from = run.phases.find(item.from);
    if (to == run.phases.end() || (!item.from.empty() && from == run.phases.end())) return {};
    PhaseMemory grown = to->second;
    if (!item.from.empty())
        for (std::size_t rank = 0; rank < grown.anonymous.size(); ++rank) {
            grown.anonymous[rank] -= from->second.anonymous[rank];
            grown.shared[rank] -= from->second.shared[rank];
            grown.files[rank] -= from->second.files[rank];
            grown.heap[rank] -= from->second.heap[rank];
        }
    Amount amount{mean_of(grown.anonymous) / item.count,
                  *std::max_element(grown.anonymous.begin(), grown.anonymous.end()) / item.count,
                  sum_of(grown.shared) / item.count, sum_of(grown.files) / item.count,
                  mean_of(grown.heap) / item.count};
    if (item.user_bytes > 0) take_off_user_bytes(amount, item.user_bytes, run.ranks);
    return {amount};
}

Spread spread_of(std::vector<double> values) {
    if (values.empty()) return {};
    std::sort(values.begin(), values.end());
    std::size_t const half = values.size() / 2;
    double const median = values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
    double error = 0;
    if (values.size() > 1) {
        double const mean = mean_of(values);
        double squares = 0;
        for (double const value : values)
            squares += (value - mean) * (value - mean);
        auto const count = static_cast<double>(values.size());
        error = 1.2533 * std::sqrt(squares / (count - 1) / count);  // the standard error of a median is sqrt(pi / 2)
                                                                    // times that of the mean
    }
    return {values.front(), median, values.back(), error};
}

std::vector<ItemStudy> study(std::vector<ProbeRun> const& runs, ProbeObjects const& objects) {
    std::vector<ItemStudy> studies;
    for (Item const& item : items(objects)) {
        std::map<int, std::vector<Amount>> by_ranks;
        for (ProbeRun const& run : runs)
            for (Amount const& amount : amount_of(item, run))
                by_ranks[run.ranks].push_back(amount);
        if (by_ranks.empty()) continue;
        ItemStudy result{item, {}, {}};
        for (auto const& [ranks, amounts] : by_ranks) {
            auto const spread = [&amounts = amounts](double Amount::*part) {
                std::vector<double> values;
                values.reserve(amounts.size());
                for (Amount const& amount : amounts)
                    values.push_back(amount.*part);
                return spread_of(values);
            };
            result.measured.push_back({ranks, static_cast<int>(amounts.size()), spread(&Amount::private_rank),
                                       spread(&Amount::private_worst), spread(&Amount::shared_node),
                                       spread(&Amount::files_node), spread(&Amount::heap_rank)});
        }
        if (item.grows && result.measured.size() >= k_least_samples) {
            auto const law = [&](Spread Measured::*part, Law richest, double grain) {
                std::vector<Sample> samples;
                for (Measured const& point : result.measured)
                    samples.push_back({static_cast<double>(point.ranks), (point.*part).median, (point.*part).error});
                result.laws.push_back(Fit::choose(samples, richest, grain / item.count));
            };
            law(&Measured::private_rank, Law::affine, k_page_bytes);
            law(&Measured::shared_node, Law::quadratic, k_page_bytes);
            law(&Measured::files_node, Law::affine, k_page_bytes);
        }
        studies.push_back(result);
    }
    return studies;
}

Prediction predict(ItemStudy const& study, int ranks, int per_node) {
    Interval const own = study.laws.at(0).at(ranks);
    Interval const segments = study.laws.at(1).at(per_node);
    Interval const files = study.laws.at(2).at(per_node);
    auto const on_node = [&](double Interval::*end, double share) {
        return std::max(0.0, own.*end + (segments.*end + files.*end) / share);
    };
    double const share = per_node;
    Prediction prediction;
    prediction.rank = {on_node(&Interval::value, share), on_node(&Interval::low, share),
                       on_node(&Interval::high, share)};
    prediction.node = {prediction.rank.value * share, prediction.rank.low * share, prediction.rank.high * share};
    double const most = study.measured.back().ranks;
    prediction.beyond = ranks / most;
    prediction.node_beyond = per_node / most;
    return prediction;
}

}  // namespace sluice::cli
