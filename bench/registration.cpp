// SPDX-License-Identifier: BSD-3-Clause
// The benchmark `registration`: streams of communication buffers through the schemes of registration. Prints one JSON
// object on each line; `sluice bench registration` launches it and draws the table. Calls no MPI. Exit code 0; 1 for an
// error or a figure that contradicts itself.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "command_line/command_line.hpp"
#include "registration/shapes.hpp"
#include "registration/turned.hpp"
#include "support/rows.hpp"

namespace sluice::bench {

namespace {

struct Options {
    std::vector<std::string> cases;
    std::vector<std::string> schemes;
};

double seconds(Time time) {
    return std::chrono::duration<double>(time).count();
}

Row row_of(Shape const& shape, std::string const& method, Outcome const& outcome) {
    Row row{{"bench", "registration"}, {"case", shape.name}, {"bed", "turned"}, {"registrar", "counting"}};
    row["method"] = method;
    row["seconds"] = seconds(outcome.time);
    row["peak_pinned"] = outcome.peak;
    row["late_peak_pinned"] = outcome.late_peak;
    row["average_pinned"] = outcome.average;
    row["late_average_pinned"] = outcome.late_average;
    row["messages"] = outcome.figures.messages;
    row["main_registrations"] = outcome.figures.registered_by_main;
    row["late_messages"] = outcome.figures.late_messages;
    row["late_main_registrations"] = outcome.figures.late_by_main;
    row["waited"] = outcome.figures.waited;
    registration::Accuracy const& accuracy = outcome.figures.accuracy;
    if (accuracy.predictions > 0) {
        row["predictions"] = accuracy.predictions;
        row["within_half_percent"] = accuracy.share(accuracy.within_half_percent);
        row["within_five_percent"] = accuracy.share(accuracy.within_five_percent);
        row["early"] = accuracy.share(accuracy.early);
        row["late"] = accuracy.share(accuracy.late);
        row["missed"] = accuracy.share(accuracy.missed);
    }
    return row;
}

Row ratio_of(Shape const& shape, char const* name, Outcome const& ours, Outcome const& theirs) {
    Row row{{"bench", "registration"}, {"case", shape.name}, {"bed", "turned"}, {"ratio", name}};
    auto const part = [](double a, double b) { return b > 0 ? a / b : 0; };
    row["time"] = part(seconds(ours.time), seconds(theirs.time));
    row["peak_pinned"] = part(static_cast<double>(ours.peak), static_cast<double>(theirs.peak));
    row["late_peak_pinned"] = part(static_cast<double>(ours.late_peak), static_cast<double>(theirs.late_peak));
    row["average_pinned"] = part(ours.average, theirs.average);
    row["late_average_pinned"] = part(ours.late_average, theirs.late_average);
    return row;
}

bool is_wanted(std::vector<std::string> const& wanted, std::string_view name) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

void measure(Shape const& shape, Options const& options) {
    std::vector<Stream> const streams = shape.make();
    SchemeOptions scheme_options;
    Outcome const ours = run_turned(streams, "sluice", scheme_options);
    Outcome const pinned = run_turned(streams, "leave_pinned", scheme_options);
    Outcome const direct = run_turned(streams, "direct", scheme_options);
    Outcome const optimum = run_optimum(streams, scheme_options);
    // The capped cache gets what the helper needed, of each rank the same part.
    scheme_options.limit = ours.figures.peak / streams.size();
    Row about{{"bench", "registration"}, {"case", shape.name}, {"note", shape.made_from}};
    about["ranks"] = streams.size();
    if (shape.paper_saving) about["paper_saving_percent"] = *shape.paper_saving;
    print_row(about);
    print_row(row_of(shape, "optimum", optimum));
    for (std::string_view const name : scheme_names()) {
        if (!is_wanted(options.schemes, name)) continue;
        SchemeOptions of = scheme_options;
        if (name != "lru") of.limit = ~std::uint64_t{0};
        print_row(row_of(shape, std::string(name), run_turned(streams, name, of)));
    }
    print_row(ratio_of(shape, "sluice/leave_pinned", ours, pinned));
    print_row(ratio_of(shape, "sluice/direct", ours, direct));
    print_row(ratio_of(shape, "sluice/optimum", ours, optimum));
}

std::vector<std::string> case_names() {
    std::vector<std::string> names;
    for (Shape const& shape : shapes())
        names.push_back(shape.name);
    return names;
}

}  // namespace

}  // namespace sluice::bench

int main(int argc, char** argv) {
    using namespace sluice::bench;
    Options options;
    std::vector<std::string> schemes;
    for (std::string_view const name : scheme_names())
        schemes.emplace_back(name);
    sluice::command_line::CommandLine line("sluice-bench-registration",
                                           "Streams of communication buffers through the schemes of registration");
    line.option("--case", options.cases, "shapes, separated by commas; all without it")
        .separated_by_commas()
        .one_of(case_names());
    line.option("--scheme", options.schemes, "schemes, separated by commas; all without it")
        .separated_by_commas()
        .one_of(schemes);
    if (auto const code = line.parse_main(argc, argv)) return *code;
    try {
        for (Shape const& shape : shapes())
            if (is_wanted(options.cases, shape.name)) measure(shape, options);
    } catch (std::exception const& error) {
        std::fprintf(stderr, "sluice-bench-registration: %s\n", error.what());
        return 1;
    }
    return 0;
}
