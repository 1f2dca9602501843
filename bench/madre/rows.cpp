// SPDX-License-Identifier: BSD-3-Clause
#include "madre/rows.hpp"

#include <cstdio>

namespace sluice::bench {

namespace {

/// The simulation is deterministic, so there is one run, and min, median and max are the same.
std::string spread(double value) {
    char text[120];
    std::snprintf(text, sizeof text, R"({"min":%.6g,"median":%.6g,"max":%.6g})", value, value, value);
    return text;
}

std::string head(Options const& options, Experiment const& experiment) {
    char text[400];
    std::snprintf(text, sizeof text,
                  R"({"bench":"madre","case":"experiment%d","ranks":%d,"block_bytes":%llu,"blocks":%llu,)"
                  R"("free_blocks":%llu,"mpi":"simgrid","bed":"simulated","platform":"%s")",
                  experiment.number(), experiment.ranks(), static_cast<unsigned long long>(options.block_bytes),
                  static_cast<unsigned long long>(experiment.blocks()),
                  static_cast<unsigned long long>(experiment.blocks() - experiment.live(1)), options.platform.c_str());
    return text;
}

}  // namespace

void print_bound(Options const& options, Experiment const& experiment, LowerBound const& bound, double link_rate) {
    std::printf(R"(%s,"method":"lower_bound","seconds":%s,"endpoint_seconds":%.6g,"link_seconds":%.6g,)"
                R"("bytes_moved":%llu,"measured_link_rate":%.5g,"outcome":"ok"})"
                "\n",
                head(options, experiment).c_str(), spread(bound.seconds()).c_str(), bound.endpoint_seconds,
                bound.link_seconds, static_cast<unsigned long long>(bound.bytes), link_rate);
    std::fflush(stdout);
}

void print_outcome(Options const& options, Experiment const& experiment, std::string const& method,
                   Outcome const& outcome, LowerBound const& bound) {
    std::string const start = head(options, experiment);
    std::string steps;
    for (auto const& [step, seconds] : outcome.steps) {
        char text[100];
        std::snprintf(text, sizeof text, R"(%s"%s":%.4g)", steps.empty() ? "" : ",", step.c_str(), seconds);
        steps += text;
    }
    std::printf(R"(%s,"method":"%s","seconds":%s,"extra_bytes":%llu,"bytes_moved":%llu,"rounds":%llu,"steps":{%s},)"
                R"("outcome":"ok"})"
                "\n",
                start.c_str(), method.c_str(), spread(outcome.seconds).c_str(),
                static_cast<unsigned long long>(outcome.extra_bytes),
                static_cast<unsigned long long>(outcome.bytes_moved), static_cast<unsigned long long>(outcome.rounds),
                steps.c_str());
    std::printf(R"(%s,"ratio":"%s/lower_bound","time":%s})"
                "\n",
                start.c_str(), method.c_str(), spread(outcome.seconds / bound.seconds()).c_str());
    std::fflush(stdout);
}

}  // namespace sluice::bench
