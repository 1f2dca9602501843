// SPDX-License-Identifier: BSD-3-Clause
/// What each report of C++ looks like in C: its fields under their names.
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <variant>

#include "c/c_report.hpp"

namespace sluice::c {

namespace {

template <typename Of>
struct Field {
    char const* name;
    std::variant<std::uint64_t Of::*, Bytes Of::*, bool Of::*> member;
};

constexpr Field<AlltoallReport> k_alltoall_fields[] = {
    {"exchanged", &AlltoallReport::exchanged},         {"staging", &AlltoallReport::staging},
    {"pairs_swapped", &AlltoallReport::pairs_swapped}, {"pairs_staged", &AlltoallReport::pairs_staged},
    {"pairs_small", &AlltoallReport::pairs_small},     {"pairs_lost", &AlltoallReport::pairs_lost},
};

constexpr Field<AlltoallOutcome> k_outcome_fields[] = {
    {"sent", &AlltoallOutcome::sent},         {"received", &AlltoallOutcome::received},
    {"kept", &AlltoallOutcome::kept},         {"staging", &AlltoallOutcome::staging},
    {"messages", &AlltoallOutcome::messages}, {"pulled", &AlltoallOutcome::pulled},
    {"lost", &AlltoallOutcome::lost},         {"most_under_way", &AlltoallOutcome::most_under_way},
};

constexpr Field<TransposeReport> k_transpose_fields[] = {
    {"sent", &TransposeReport::sent},         {"received", &TransposeReport::received},
    {"kept", &TransposeReport::kept},         {"staging", &TransposeReport::staging},
    {"steps", &TransposeReport::steps},       {"messages", &TransposeReport::messages},
    {"swapped", &TransposeReport::swapped},   {"pulled", &TransposeReport::pulled},
    {"in_place", &TransposeReport::in_place},
};

constexpr Field<ExchangeReport> k_exchange_fields[] = {
    {"parts_sent", &ExchangeReport::parts_sent},
    {"parts_received", &ExchangeReport::parts_received},
    {"sent", &ExchangeReport::sent},
    {"received", &ExchangeReport::received},
    {"kept", &ExchangeReport::kept},
    {"peak", &ExchangeReport::peak},
    {"most_on_their_way", &ExchangeReport::most_on_their_way},
    {"beyond", &ExchangeReport::beyond},
};

constexpr Field<StoreReport> k_store_fields[] = {
    {"sets", &StoreReport::sets},
    {"fetched", &StoreReport::fetched},
    {"fetched_here", &StoreReport::fetched_here},
    {"reused", &StoreReport::reused},
    {"served", &StoreReport::served},
    {"fetched_bytes", &StoreReport::fetched_bytes},
    {"held", &StoreReport::held},
    {"peak", &StoreReport::peak},
    {"beyond", &StoreReport::beyond},
    {"early", &StoreReport::early},
    {"retried", &StoreReport::retried},
    {"read", &StoreReport::read},
    {"moved_in_background", &StoreReport::moved_in_background},
    {"most_on_their_way", &StoreReport::most_on_their_way},
    {"sent", &StoreReport::sent},
    {"received", &StoreReport::received},
    {"compared", &StoreReport::compared},
    {"sent_bytes", &StoreReport::sent_bytes},
    {"received_bytes", &StoreReport::received_bytes},
    {"packed_peak", &StoreReport::packed_peak},
    {"uncontrolled_peak", &StoreReport::uncontrolled_peak},
    {"unexpected", &StoreReport::unexpected},
};

constexpr Field<PagedReport> k_paged_fields[] = {
    {"sets", &PagedReport::sets},
    {"found", &PagedReport::found},
    {"brought", &PagedReport::brought},
    {"written", &PagedReport::written},
    {"unplanned", &PagedReport::unplanned},
    {"parts", &PagedReport::parts},
    {"parts_found", &PagedReport::parts_found},
    {"beyond", &PagedReport::beyond},
    {"held", &PagedReport::held},
    {"peak", &PagedReport::peak},
    {"on_disk", &PagedReport::on_disk},
    {"past_cache", &PagedReport::past_cache},
};

constexpr Field<RedistributionReport> k_redistribution_fields[] = {
    {"blocks_sent", &RedistributionReport::blocks_sent},
    {"blocks_received", &RedistributionReport::blocks_received},
    {"blocks_local", &RedistributionReport::blocks_local},
    {"bytes_sent", &RedistributionReport::bytes_sent},
    {"bytes_received", &RedistributionReport::bytes_received},
    {"bytes_local", &RedistributionReport::bytes_local},
    {"rounds", &RedistributionReport::rounds},
    {"requests_peak", &RedistributionReport::requests_peak},
    {"extra_peak", &RedistributionReport::extra_peak},
};

// A field that is added in C++ must be added to its table. These reports consist of numbers of 8 bytes, that of
// transposes also of one flag, the last of paged files of two.
static_assert(sizeof(AlltoallReport) == std::size(k_alltoall_fields) * 8, "k_alltoall_fields lacks a field");
static_assert(sizeof(AlltoallOutcome) == (std::size(k_outcome_fields) + 1) * 8, "k_outcome_fields lacks a field");
static_assert(sizeof(TransposeReport) == std::size(k_transpose_fields) * 8, "k_transpose_fields lacks a field");
static_assert(sizeof(ExchangeReport) == std::size(k_exchange_fields) * 8, "k_exchange_fields lacks a field");
static_assert(sizeof(StoreReport) == std::size(k_store_fields) * 8, "k_store_fields lacks a field");
static_assert(sizeof(PagedReport) == (std::size(k_paged_fields) - 2) * 8 + 8, "k_paged_fields lacks a field");

struct PurposeName {
    Purpose purpose;
    char const* name;
};
constexpr PurposeName k_purposes[] = {
    {Purpose::staging, "held.staging"}, {Purpose::bookkeeping, "held.bookkeeping"}, {Purpose::ring, "held.ring"},
    {Purpose::fetched, "held.fetched"}, {Purpose::served, "held.served"},           {Purpose::paged, "held.paged"},
    {Purpose::other, "held.other"},     {Purpose::registered, "held.registered"},
};

void add(sluice_report& report, char const* name, std::uint64_t value) {
    report.add_count(name, value);
}
void add(sluice_report& report, char const* name, Bytes value) {
    report.add_bytes(name, value);
}
void add(sluice_report& report, char const* name, bool value) {
    report.add_flag(name, value);
}

template <typename Of, std::size_t Count>
void add_fields(sluice_report& report, Of const& made, Field<Of> const (&fields)[Count]) {
    for (Field<Of> const& field : fields)
        std::visit([&](auto member) { add(report, field.name, made.*member); }, field.member);
}

template <typename Of, std::size_t Count>
sluice_report of_fields(Of const& made, Field<Of> const (&fields)[Count]) {
    sluice_report report;
    add_fields(report, made, fields);
    report.list_figures();
    return report;
}

}  // namespace

sluice_report report_of(RedistributionReport const& made) {
    sluice_report report;
    report.add_text("strategy", name_of(made.strategy));
    report.add_text("why", made.why);
    report.add_seconds("seconds", made.seconds());
    add_fields(report, made, k_redistribution_fields);
    for (auto const& [step, seconds] : made.steps)
        report.add_seconds("step." + step, seconds);
    for (auto const& [counter, value] : made.counters)
        report.add_count("counter." + counter, value);
    report.text = made.text();
    return report;
}

sluice_report report_of(AlltoallReport const& made) {
    return of_fields(made, k_alltoall_fields);
}

sluice_report report_of(AlltoallOutcome const& made) {
    sluice_report report;
    report.add_text("algorithm", name_of(made.algorithm));
    add_fields(report, made, k_outcome_fields);
    report.list_figures();
    return report;
}

sluice_report report_of(TransposeReport const& made) {
    return of_fields(made, k_transpose_fields);
}

sluice_report report_of(ExchangeReport const& made) {
    return of_fields(made, k_exchange_fields);
}

sluice_report report_of(StoreReport const& made) {
    return of_fields(made, k_store_fields);
}

sluice_report report_of(PagedReport const& made) {
    return of_fields(made, k_paged_fields);
}

sluice_report report_of(Budget const& budget) {
    sluice_report report;
    report.add_bytes("limit", budget.limit());
    report.add_bytes("held", budget.held());
    report.add_bytes("peak", budget.peak());
    report.add_bytes("resident", budget.resident());
    report.add_bytes("spare", budget.spare());
    for (PurposeName const& of : k_purposes)
        report.add_bytes(of.name, budget.held(of.purpose));
    report.list_figures();
    return report;
}

sluice_report report_of(MemoryLimit const& limit) {
    sluice_report report;
    report.add_bytes("limit", limit.limit);
    report.add_bytes("used", limit.used);
    report.add_text("source", limit.source);
    report.list_figures();
    return report;
}

sluice_report report_of(Settings const& settings) {
    sluice_report report;
    for (SettingRow const& row : setting_rows())
        report.add_text(std::string(row.name), settings.get(row.name));
    report.list_figures();
    return report;
}

sluice_report report_of(SettingRow const& row) {
    sluice_report report;
    report.add_text("name", row.name);
    report.add_text("variable", row.variable);
    report.add_text("kind", row.kind);
    report.add_text("default", row.default_text);
    report.add_text("words", row.words);
    report.add_count("least", row.least);
    report.add_count("most", row.most);
    report.add_text("help", row.help);
    report.list_figures();
    return report;
}

}  // namespace sluice::c
