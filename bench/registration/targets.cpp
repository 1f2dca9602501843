// SPDX-License-Identifier: BSD-3-Clause
#include "registration/targets.hpp"

namespace sluice::bench {

namespace {

double part(double a, double b) {
    return b > 0 ? a / b : 0;
}

double peak_part(Outcome const& a, Outcome const& b) {
    return part(static_cast<double>(a.peak), static_cast<double>(b.peak));
}

double foretold(Outcome const& outcome) {
    return part(static_cast<double>(outcome.figures.accuracy.within_five_percent),
                static_cast<double>(outcome.figures.messages));
}

}  // namespace

bool Target::is_met() const {
    constexpr double k_rounding = 1e-9;
    return (!least || value >= *least - k_rounding) && (!most || value <= *most + k_rounding);
}

std::vector<Target> targets_of(Shape const& shape, Compared const& outcomes) {
    auto const& [ours, pinned, optimum, periodicity] = outcomes;
    registration::Accuracy const& accuracy = ours.figures.accuracy;
    std::vector<Target> targets;
    targets.push_back({"peak, of the optimum", peak_part(ours, optimum), {}, 1.1, {}});
    targets.push_back({"peak, of leave pinned", peak_part(ours, pinned), {}, 1.0, peak_part(optimum, pinned)});
    if (shape.paper_saving)
        targets.push_back({"saving of the peak, percent, paper's",
                           100 * (1 - peak_part(ours, pinned)),
                           shape.paper_saving,
                           {},
                           100 * (1 - peak_part(optimum, pinned))});
    targets.push_back(
        time_target(part(static_cast<double>(ours.time.count()), static_cast<double>(pinned.time.count()))));
    targets.push_back(
        {"messages found registered, second half",
         1 - part(static_cast<double>(ours.figures.late_by_main), static_cast<double>(ours.figures.late_messages)),
         0.95,
         {},
         {}});
    targets.push_back(
        {"predictions within 5 % of the period", accuracy.share(accuracy.within_five_percent), 0.95, {}, {}});
    targets.push_back({"messages foretold, periodicity's", foretold(ours), foretold(periodicity), {}, {}});
    return targets;
}

Target time_target(double ours_of_pinned) {
    return {"time, of leave pinned", ours_of_pinned, {}, 1.01, {}};
}

Row row_of(Row cell, Target const& target) {
    cell["target"] = target.what;
    cell["value"] = target.value;
    if (target.least) cell["least"] = *target.least;
    if (target.most) cell["most"] = *target.most;
    if (target.best) cell["optimum"] = *target.best;
    cell["met"] = target.is_met();
    return cell;
}

}  // namespace sluice::bench
