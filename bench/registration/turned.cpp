// SPDX-License-Identifier: BSD-3-Clause
#include "registration/turned.hpp"

#include <algorithm>
#include <map>

namespace sluice::bench {

namespace {

/// Returns the time at the end.
Time run_rank(Stream const& stream, Scheme& scheme, SchemeFigures& figures) {
    Time now{0};
    SchemeFigures half;
    for (Step const& step : stream.steps) {
        scheme.advance(now);
        if (&step == &stream.steps[stream.steps.size() / 2]) half = scheme.figures();
        Message const* const message = step.what == Step::What::busy ? nullptr : &stream.messages[step.message];
        if (step.what == Step::What::busy) now += step.time;
        if (step.what == Step::What::post) now += scheme.begin(step.message, *message, now);
        if (step.what == Step::What::complete) now += scheme.end(step.message, *message, now);
    }
    scheme.advance(now);
    figures = scheme.figures();
    figures.late_by_main = figures.registered_by_main - half.registered_by_main;
    figures.late_messages = figures.messages - half.messages;
    return now;
}

void add(SchemeFigures& all, SchemeFigures const& one) {
    all.messages += one.messages;
    all.registered_by_main += one.registered_by_main;
    all.waited += one.waited;
    all.late_by_main += one.late_by_main;
    all.late_messages += one.late_messages;
    all.peak += one.peak;
    all.accuracy.predictions += one.accuracy.predictions;
    all.accuracy.within_half_percent += one.accuracy.within_half_percent;
    all.accuracy.within_five_percent += one.accuracy.within_five_percent;
    all.accuracy.early += one.accuracy.early;
    all.accuracy.late += one.accuracy.late;
    all.accuracy.missed += one.accuracy.missed;
}

void conclude(Outcome& outcome, Timeline const& node) {
    outcome.peak = node.figures(Time(0), outcome.time).peak;
    outcome.average = node.figures(Time(0), outcome.time).average;
    Timeline::Figures const late = node.figures(outcome.time / 2, outcome.time);
    outcome.late_average = late.average;
    outcome.late_peak = late.late_peak;
}

struct Span {
    Time begin;
    Time end;
};

/// When each range is in use, without overlaps.
std::map<std::pair<std::uintptr_t, std::uint64_t>, std::vector<Span>> uses_of(Stream const& stream, Time& now) {
    std::map<std::pair<std::uintptr_t, std::uint64_t>, std::vector<Span>> uses;
    std::map<std::uint32_t, Time> begun;
    for (Step const& step : stream.steps) {
        if (step.what == Step::What::busy) now += step.time;
        if (step.what == Step::What::post) begun[step.message] = now;
        if (step.what == Step::What::complete) {
            Range const pages = registration::whole_pages(stream.messages[step.message].range);
            uses[{pages.begin, pages.bytes}].push_back({begun.at(step.message), now});
        }
    }
    return uses;
}

}  // namespace

Outcome run_turned(std::vector<Stream> const& streams, std::string_view scheme_name, SchemeOptions const& options) {
    Outcome outcome;
    Timeline node;
    for (Stream const& stream : streams) {
        std::unique_ptr<Scheme> const scheme = make_scheme(scheme_name, options);
        SchemeFigures figures;
        outcome.time = std::max(outcome.time, run_rank(stream, *scheme, figures));
        add(outcome.figures, figures);
        node.join(scheme->timeline());
    }
    conclude(outcome, node);
    return outcome;
}

Outcome run_optimum(std::vector<Stream> const& streams, SchemeOptions const& options) {
    Outcome outcome;
    Timeline node;
    registration::CountingRegistrar const model(options.law);
    for (Stream const& stream : streams) {
        Time now{0};
        for (auto const& [pages, spans] : uses_of(stream, now)) {
            Range const range{pages.first, pages.second};
            Time const again = model.cost_of_add(range) + model.cost_of_remove(range);
            auto const bytes = static_cast<std::int64_t>(range.bytes);
            for (std::size_t i = 0; i < spans.size();) {
                node.change(spans[i].begin - model.cost_of_add(range), bytes);
                Time end = spans[i].end;
                while (++i < spans.size() && spans[i].begin - end < again)
                    end = std::max(end, spans[i].end);
                node.change(end + model.cost_of_remove(range), -bytes);
            }
        }
        outcome.time = std::max(outcome.time, now);
        outcome.figures.messages += stream.messages.size();
    }
    conclude(outcome, node);
    return outcome;
}

}  // namespace sluice::bench
