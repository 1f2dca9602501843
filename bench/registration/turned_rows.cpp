// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <stdexcept>

#include "registration/rows.hpp"
#include "registration/targets.hpp"
#include "registration/turned.hpp"
#include "support/rows.hpp"

namespace sluice::bench {

namespace {

double seconds(Time time) {
    return std::chrono::duration<double>(time).count();
}

Row cell_of(Shape const& shape, std::size_t ranks) {
    return {{"bench", "registration"},
            {"case", shape.name},
            {"ranks", ranks},
            {"bed", "turned"},
            {"registrar", "counting"}};
}

void add_accuracy(Row& row, SchemeFigures const& figures) {
    registration::Accuracy const& accuracy = figures.accuracy;
    if (accuracy.predictions == 0) return;
    row["predictions"] = accuracy.predictions;
    row["within_half_percent"] = accuracy.share(accuracy.within_half_percent);
    row["within_five_percent"] = accuracy.share(accuracy.within_five_percent);
    // A predictor that is silent is never wrong: so also of all messages.
    row["foretold"] = static_cast<double>(accuracy.within_five_percent) / static_cast<double>(figures.messages);
    row["early"] = accuracy.share(accuracy.early);
    row["late"] = accuracy.share(accuracy.late);
    row["missed"] = accuracy.share(accuracy.missed);
}

Row row_of(Row row, std::string_view method, Outcome const& outcome) {
    row["method"] = method;
    row["seconds"] = seconds(outcome.time);
    row["peak_pinned"] = outcome.peak;
    row["average_pinned"] = outcome.average;
    row["late_average_pinned"] = outcome.late_average;
    row["messages"] = outcome.figures.messages;
    row["main_registrations"] = outcome.figures.registered_by_main;
    row["late_messages"] = outcome.figures.late_messages;
    row["late_main_registrations"] = outcome.figures.late_by_main;
    row["waited"] = outcome.figures.waited;
    add_accuracy(row, outcome.figures);
    row["outcome"] = "ok";
    return row;
}

Row ratio_of(Row row, char const* name, Outcome const& ours, Outcome const& theirs) {
    auto const part = [](double a, double b) { return b > 0 ? a / b : 0; };
    row["ratio"] = name;
    row["time"] = part(seconds(ours.time), seconds(theirs.time));
    row["peak_pinned"] = part(static_cast<double>(ours.peak), static_cast<double>(theirs.peak));
    row["average_pinned"] = part(ours.average, theirs.average);
    row["late_average_pinned"] = part(ours.late_average, theirs.late_average);
    return row;
}

/// A scheme that registers less than what is in use at once has lost a message.
void check(std::string_view name, Outcome const& outcome, std::size_t messages) {
    if (outcome.figures.messages != messages)
        throw std::runtime_error(std::string(name) + " served " + std::to_string(outcome.figures.messages) + " of " +
                                 std::to_string(messages) + " messages");
}

}  // namespace

bool is_wanted(std::vector<std::string> const& wanted, std::string const& name) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

void measure_turned(Shape const& shape, RegistrationOptions const& options) {
    std::vector<Stream> const streams = shape.make();
    std::size_t messages = 0;
    for (Stream const& stream : streams)
        messages += stream.messages.size();
    Row const cell = cell_of(shape, streams.size());
    SchemeOptions scheme_options;
    Outcome const ours = run_turned(streams, "sluice", scheme_options);
    Outcome const pinned = run_turned(streams, "leave_pinned", scheme_options);
    Outcome const direct = run_turned(streams, "direct", scheme_options);
    Outcome const optimum = run_optimum(streams, scheme_options);
    Row about = cell;
    about["note"] = shape.made_from;
    if (shape.paper_saving) about["paper_saving_percent"] = *shape.paper_saving;
    print_row(about);
    print_row(row_of(cell, "optimum", optimum));
    for (std::string_view const name : scheme_names()) {
        if (!is_wanted(options.schemes, std::string(name))) continue;
        SchemeOptions of = scheme_options;
        // The capped cache gets what the helper needed, each rank the same part.
        if (name == "lru") of.limit = ours.figures.peak / streams.size();
        Outcome const outcome = run_turned(streams, name, of);
        check(name, outcome, messages);
        print_row(row_of(cell, name, outcome));
    }
    print_row(ratio_of(cell, "sluice/leave_pinned", ours, pinned));
    print_row(ratio_of(cell, "sluice/direct", ours, direct));
    print_row(ratio_of(cell, "sluice/optimum", ours, optimum));
    Outcome const periodicity = run_turned(streams, "periodicity", scheme_options);
    for (Target const& target : targets_of(shape, {ours, pinned, optimum, periodicity}))
        print_row(row_of(cell, target));
}

}  // namespace sluice::bench
