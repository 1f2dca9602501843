// SPDX-License-Identifier: BSD-3-Clause
/// The report of the C interface: a list of named figures. Each report of C++ is written into one by its function
/// report_of(), from a table of its fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "c/c_handles.hpp"
#include "sluice/alltoall.hpp"
#include "sluice/budget.hpp"
#include "sluice/c/report.h"
#include "sluice/collectives.hpp"
#include "sluice/exchange.hpp"
#include "sluice/fetch.hpp"
#include "sluice/paged.hpp"
#include "sluice/redistribute.hpp"
#include "sluice/settings.hpp"
#include "sluice/transpose.hpp"

/// One figure; which of the three values it has depends on its unit.
struct sluice_figure {
    std::string name;
    sluice_unit unit = SLUICE_UNIT_NONE;
    std::uint64_t number = 0;
    double seconds = 0;
    std::string text;
};

struct sluice_report {
    static constexpr sluice::c::HandleKind k_kind = sluice::c::HandleKind::report;
    std::vector<sluice_figure> figures;
    std::string text;

    void add_count(std::string name, std::uint64_t number) {
        figures.push_back({std::move(name), SLUICE_UNIT_COUNT, number, 0, {}});
    }
    void add_bytes(std::string name, sluice::Bytes bytes) {
        figures.push_back({std::move(name), SLUICE_UNIT_BYTES, bytes.count, 0, {}});
    }
    void add_flag(std::string name, bool flag) {
        figures.push_back({std::move(name), SLUICE_UNIT_FLAG, flag ? 1U : 0U, 0, {}});
    }
    void add_seconds(std::string name, double seconds) {
        figures.push_back({std::move(name), SLUICE_UNIT_SECONDS, 0, seconds, {}});
    }
    void add_text(std::string name, std::string_view said) {
        figures.push_back({std::move(name), SLUICE_UNIT_TEXT, 0, 0, std::string(said)});
    }
    /// Makes the text that people read: one figure in each line.
    void list_figures();
};

namespace sluice::c {

sluice_report report_of(RedistributionReport const& made);
sluice_report report_of(AlltoallReport const& made);
sluice_report report_of(AlltoallOutcome const& made);
sluice_report report_of(TransposeReport const& made);
sluice_report report_of(ExchangeReport const& made);
sluice_report report_of(StoreReport const& made);
sluice_report report_of(PagedReport const& made);
sluice_report report_of(Budget const& budget);
sluice_report report_of(MemoryLimit const& limit);
sluice_report report_of(Settings const& settings);
sluice_report report_of(SettingRow const& row);

/// Throws Error(invalid_argument) unless `report` is null or a report.
inline void check_report(sluice_report const* report) {
    if (report != nullptr) existing(report, "report");
}

/// Fills `report`, which was checked, after a call that has changed the program's data, and so must not fail any more:
/// without memory the report is empty.
template <typename Made>
void fill_after(sluice_report* handle, Made const& made) noexcept {
    sluice_report* const report = looked_up(handle, "report");
    if (report == nullptr) return;
    try {
        *report = report_of(made);
    } catch (...) {
        report->figures.clear();
        report->text.clear();
    }
}

}  // namespace sluice::c
