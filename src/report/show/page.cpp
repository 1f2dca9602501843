// SPDX-License-Identifier: BSD-3-Clause
#include "report/show/page.hpp"

#include <array>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "report/advice/advice.hpp"
#include "report/show/comparison.hpp"
#include "report/show/files.hpp"
#include "report/show/text.hpp"
#include "report/show/times.hpp"
#include "report/show/why/what_happened.hpp"
#include "report/summary/figures/unit.hpp"
#include "report/summary/sites/site_figures.hpp"
#include "report/summary/summary_json.hpp"
#include "sluice/error.hpp"

namespace sluice::report {

namespace {

using nlohmann::json;

constexpr std::string_view k_mark = "/*SLUICE-REPORTS*/";

char const* word_of(Unit unit) {
    constexpr std::array k_names{"kib", "bytes", "us", "ns", "count"};
    return k_names[static_cast<std::size_t>(unit)];
}

char const* word_of(Shown shown) {
    constexpr std::array k_names{"", "part", "sum", "max"};
    return k_names[static_cast<std::size_t>(shown)];
}

json report_for_page(Summary const& summary) {
    json out;
    to_json(out, summary);
    // The page shows quantiles; the histograms that they come from would only make it large.
    for (char const* name : {"resident_over_ranks", "mpi_over_ranks"})
        out[name].erase("histogram");
    out["advice"] = advice_for(summary);
    out["when_of_peak"] = when_of_peak(summary);
    out["cause"] = cause_of_end(summary);
    out["what_happened"] = what_happened(summary);
    out["state_text"] = state_text(summary);
    out["outcome"] = outcome_text(summary);
    out["ended"] = summary.all_ended();
    out["crowded"] = crowded_text(summary);
    out["hidden"] = hidden_line(summary);
    for (Consumer const& consumer : consumers_of(summary)) {
        if (out["consumers"].size() == 6) break;
        out["consumers"].push_back(
            {{"who", consumer.who}, {"bytes", consumer.bytes}, {"rank", consumer.rank}, {"how", consumer.how}});
    }
    return out;
}

/// The columns of the table of places: which field, what of it, and its unit.
json columns_of_places() {
    json columns = json::array();
    auto const add = [&](char const* field, char const* head, char const* shown) {
        columns.push_back({{"field", field}, {"head", head}, {"shown", shown}, {"unit", word_of(unit_of(field))}});
    };
    for (SpreadOfSite const& figure : k_spreads_of_site)
        if (figure.shown != Shown::nowhere) add(figure.name, figure.head, word_of(figure.shown));
    for (SumOfSite const& figure : k_sums_of_site)
        if (figure.head != nullptr) add(figure.name, figure.head, "count");
    return columns;
}

std::string read_template(std::filesystem::path const& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (!file || text.find(k_mark) == std::string::npos)
        throw Error(ErrorCode::unsupported, "the template of the page, " + path.string() +
                                                (file ? ", has no place for reports" : ", cannot be read"));
    return text;
}

}  // namespace

std::string safe_in_script(std::string const& text) {
    // Within JSON these characters occur in strings only, so they may be written as escapes.
    std::string result;
    result.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        char const c = text[i];
        if (c == '<')
            result += "\\u003c";
        else if (c == '>')
            result += "\\u003e";
        else if (c == '&')
            result += "\\u0026";
        else if (text.compare(i, 3, "\xe2\x80\xa8") == 0 || text.compare(i, 3, "\xe2\x80\xa9") == 0) {
            result += text[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";
            i += 2;
        } else
            result += c;
    }
    return result;
}

std::function<void(std::ostream&)> page_of(std::filesystem::path const& page_template,
                                           std::span<Summary const> summaries) {
    std::string text = read_template(page_template);
    json page{{"reports", json::array()}, {"compared", json::array()}, {"columns", columns_of_places()}};
    for (Summary const& summary : summaries)
        page["reports"].push_back(report_for_page(summary));
    if (summaries.size() == 2)
        for (Compared const& row : compared(summaries[0], summaries[1]))
            page["compared"].push_back({row.what, row.before, row.after, row.change});
    std::size_t const mark = text.find(k_mark);
    return [text = std::move(text), data = safe_in_script(page.dump()), mark](std::ostream& stream) {
        stream << std::string_view(text).substr(0, mark) << data << std::string_view(text).substr(mark + k_mark.size());
    };
}

void write_page(std::filesystem::path const& page_template, std::span<Summary const> summaries,
                std::filesystem::path const& out) {
    write_whole(out, page_of(page_template, summaries));
}

}  // namespace sluice::report
