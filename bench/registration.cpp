// SPDX-License-Identifier: BSD-3-Clause
// The benchmark `registration`: streams of communication buffers through the schemes of registration, on a turned clock
// with a counting registrar, or in real time with one of the kernel. Prints one JSON object on each line; `sluice bench
// registration` launches it and draws the table. Calls no MPI. Exit code 0; 1 for an error or a figure that contradicts
// itself.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "command_line/command_line.hpp"
#include "registration/rows.hpp"
#include "registration/scheme.hpp"

namespace sluice::bench {

namespace {

std::vector<std::string> case_names() {
    std::vector<std::string> names;
    for (Shape const& shape : shapes())
        names.push_back(shape.name);
    names.emplace_back(k_main_thread);
    return names;
}

void add_options(command_line::CommandLine& line, RegistrationOptions& options) {
    std::vector<std::string> schemes;
    for (std::string_view const name : scheme_names())
        schemes.emplace_back(name);
    line.option("--case", options.cases, "shapes, separated by commas; all without it")
        .separated_by_commas()
        .one_of(case_names());
    line.option("--scheme", options.schemes, "schemes, separated by commas; all without it")
        .separated_by_commas()
        .one_of(schemes);
    line.option("--registrar", options.registrar, "counting: a turned clock; mlock, io_uring: real time")
        .one_of({"counting", "mlock", "io_uring"});
    line.option("--pairs", options.pairs, "real runs of each scheme, in turns").between(1, 1000);
    line.option("--seconds", options.seconds, "a real run is made so much faster that it takes about this long")
        .between(0.01, 10000.0);
    line.option("--most-mib", options.most_mib, "shapes with more memory are not run in real time").between(1.0, 1e6);
}

void run(RegistrationOptions const& options) {
    if (is_wanted(options.cases, k_main_thread) && options.registrar == "counting") measure_main_thread();
    for (Shape const& shape : shapes()) {
        if (!is_wanted(options.cases, shape.name)) continue;
        if (options.registrar == "counting")
            measure_turned(shape, options);
        else
            measure_real(shape, options);
    }
}

}  // namespace

}  // namespace sluice::bench

int main(int argc, char** argv) {
    sluice::bench::RegistrationOptions options;
    sluice::command_line::CommandLine line("sluice-bench-registration",
                                           "Streams of communication buffers through the schemes of registration");
    sluice::bench::add_options(line, options);
    if (auto const code = line.parse_main(argc, argv)) return *code;
    try {
        sluice::bench::run(options);
    } catch (std::exception const& error) {
        std::fprintf(stderr, "sluice-bench-registration: %s\n", error.what());
        return 1;
    }
    return 0;
}
