// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>

#include "memory/registration/registrars/fixed_buffers.hpp"
#include "memory/registration/registrars/locked_pages.hpp"
#include "registration/real.hpp"
#include "registration/rows.hpp"
#include "registration/targets.hpp"
#include "support/rows.hpp"
#include "support/statistics.hpp"

namespace sluice::bench {

namespace {

constexpr std::string_view k_real_schemes[] = {"leave_pinned", "direct", "sluice"};

std::unique_ptr<memory::registration::Registrar> registrar_of(std::string const& name) {
    if (name == "mlock") return std::make_unique<memory::registration::LockedPages>();
    return std::make_unique<memory::registration::FixedBuffers>();
}

struct Measured {
    std::vector<double> seconds;
    std::uint64_t peak = 0;
    double average = 0;
    RealRun last;
};

Row row_of(Row row, std::string_view scheme, Measured const& measured) {
    row["method"] = scheme;
    row["seconds"] = spread_row(measured.seconds);
    row["peak_pinned"] = measured.peak;
    row["average_pinned"] = measured.average;
    row["messages"] = measured.last.messages;
    row["main_registrations"] = measured.last.registered_by_main;
    row["outcome"] = measured.last.refused == 0 ? "ok" : "refused";
    if (measured.last.refused != 0) row["refused"] = measured.last.refused;
    return row;
}

void left_out(Row row, std::string const& why) {
    row["outcome"] = "left out";
    row["why"] = why;
    print_row(row);
}

}  // namespace

void measure_real(Shape const& shape, RegistrationOptions const& options) {
    Stream const stream = shape.make().front();  // the first rank of the node
    std::uint64_t const bytes = RealBuffers::bytes_of(stream);
    Row cell{{"bench", "registration"}, {"case", shape.name}, {"ranks", 1}, {"bed", "local"}};
    cell["registrar"] = options.registrar;
    double const faster = std::max(seconds_of(stream) / options.seconds, 1.0);
    cell["faster"] = faster;
    std::unique_ptr<memory::registration::Registrar> const registrar = registrar_of(options.registrar);
    if (!registrar->why_not().empty()) return left_out(cell, registrar->why_not());
    if (static_cast<double>(bytes) > options.most_mib * 1024 * 1024)
        return left_out(cell, std::to_string(bytes >> 20) + " MiB of buffers are more than --most-mib");
    RealBuffers const buffers(stream);
    std::map<std::string_view, Measured> of;
    for (int pair = -1; pair < options.pairs; ++pair)  // one round warms up
        for (std::string_view const scheme : k_real_schemes) {
            RealRun const run = run_real(stream, buffers, scheme, *registrar, pair < 0 ? faster * 4 : faster);
            if (pair < 0) continue;
            Measured& measured = of[scheme];
            measured.seconds.push_back(run.seconds);
            measured.peak = std::max(measured.peak, run.peak);
            measured.average = std::max(measured.average, run.average);
            measured.last = run;
        }
    for (std::string_view const scheme : k_real_schemes)
        if (is_wanted(options.schemes, std::string(scheme))) print_row(row_of(cell, scheme, of[scheme]));
    for (std::string_view const theirs : {"leave_pinned", "direct"}) {
        Row row = cell;
        row["ratio"] = "sluice/" + std::string(theirs);
        row["time"] = spread_row(pairwise_ratios(of["sluice"].seconds, of[theirs].seconds));
        row["peak_pinned"] = static_cast<double>(of["sluice"].peak) / static_cast<double>(of[theirs].peak);
        row["average_pinned"] = of["sluice"].average / of[theirs].average;
        print_row(row);
        if (theirs == "leave_pinned") print_row(row_of(cell, time_target(row["time"]["median"].get<double>())));
    }
}

}  // namespace sluice::bench
