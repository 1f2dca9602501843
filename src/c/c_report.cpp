// SPDX-License-Identifier: BSD-3-Clause
/// The functions of sluice/c/report.h.
#include "c/c_report.hpp"

#include <algorithm>
#include <string>

#include "base/c_boundary.hpp"
#include "base/units.hpp"
#include "c/c_handles.hpp"

using sluice::base::c_boundary;
using sluice::c::existing;
using sluice::c::invalid;
using sluice::c::looked_up;

namespace {

bool is_number(sluice_unit unit) {
    return unit == SLUICE_UNIT_COUNT || unit == SLUICE_UNIT_BYTES || unit == SLUICE_UNIT_FLAG;
}

sluice_figure const& figure_named(sluice_report const* report, char const* name) {
    auto const& figures = existing(report, "report").figures;
    std::string_view const asked = &existing(name, "name");
    auto const at =
        std::find_if(figures.begin(), figures.end(), [&](sluice_figure const& f) { return f.name == asked; });
    if (at == figures.end()) throw invalid("the report has no figure '" + std::string(asked) + "'");
    return *at;
}

sluice::Error wrong_getter(sluice_figure const& figure) {
    char const* const getter = figure.unit == SLUICE_UNIT_SECONDS ? "sluice_report_get_seconds"
                               : figure.unit == SLUICE_UNIT_TEXT  ? "sluice_report_get_text"
                                                                  : "sluice_report_get";
    return invalid("figure '" + figure.name + "' is read by " + getter);
}

std::string text_of(sluice_figure const& figure) {
    switch (figure.unit) {
        case SLUICE_UNIT_BYTES:
            return sluice::base::format_bytes({figure.number});
        case SLUICE_UNIT_FLAG:
            return figure.number != 0 ? "yes" : "no";
        case SLUICE_UNIT_SECONDS:
            return std::to_string(figure.seconds) + " s";
        case SLUICE_UNIT_TEXT:
            return figure.text;
        default:
            return std::to_string(figure.number);
    }
}

}  // namespace

void sluice_report::list_figures() {
    text.clear();
    for (sluice_figure const& figure : figures)
        text += figure.name + ' ' + text_of(figure) + '\n';
}

int sluice_report_create(sluice_report** report) {
    return sluice::c::new_handle(report, "report");
}

int sluice_report_free(sluice_report** report) {
    return sluice::c::free_handle(report, "report");
}

int sluice_report_get(sluice_report const* report, char const* name, uint64_t* value) {
    return c_boundary([&] {
        sluice_figure const& figure = figure_named(report, name);
        if (!is_number(figure.unit)) throw wrong_getter(figure);
        existing(value, "value") = figure.number;
    });
}

int sluice_report_get_seconds(sluice_report const* report, char const* name, double* seconds) {
    return c_boundary([&] {
        sluice_figure const& figure = figure_named(report, name);
        if (figure.unit != SLUICE_UNIT_SECONDS) throw wrong_getter(figure);
        existing(seconds, "seconds") = figure.seconds;
    });
}

int sluice_report_get_text(sluice_report const* report, char const* name, char const** text) {
    return c_boundary([&] {
        sluice_figure const& figure = figure_named(report, name);
        if (figure.unit != SLUICE_UNIT_TEXT) throw wrong_getter(figure);
        existing(text, "text") = figure.text.c_str();
    });
}

size_t sluice_report_size(sluice_report const* report) {
    sluice_report const* const of = looked_up(report, "report");
    return of == nullptr ? 0 : of->figures.size();
}

char const* sluice_report_name(sluice_report const* report, size_t which) {
    sluice_report const* const of = looked_up(report, "report");
    return of != nullptr && which < of->figures.size() ? of->figures[which].name.c_str() : nullptr;
}

int sluice_report_unit(sluice_report const* report, size_t which) {
    sluice_report const* const of = looked_up(report, "report");
    return of != nullptr && which < of->figures.size() ? of->figures[which].unit : SLUICE_UNIT_NONE;
}

char const* sluice_report_text(sluice_report const* report) {
    sluice_report const* const of = looked_up(report, "report");
    return of == nullptr ? "" : of->text.c_str();
}
