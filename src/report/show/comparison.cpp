// SPDX-License-Identifier: BSD-3-Clause
#include "report/show/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/columns.hpp"
#include "report/show/text.hpp"
#include "report/show/times.hpp"
#include "report/show/words.hpp"
#include "report/summary/figures/figures.hpp"
#include "report/summary/figures/unit.hpp"

namespace sluice::report {

namespace {

std::string change(double before, double after) {
    if (before == after) return before == 0 ? "" : "same";
    if (before == 0) return "new";
    double const ratio = after / before;
    if (ratio >= 3) return fmt::format("×{:.1f}", ratio);
    double const percent = 100 * (ratio - 1);
    if (percent > -0.5 && percent < 0.5) return "same";
    return fmt::format("{}{:.0f} %", percent < 0 ? "−" : "+", std::abs(percent));
}

Compared of_size(std::string what, std::uint64_t before, std::uint64_t after) {
    return {std::move(what), size_text(before), size_text(after),
            change(static_cast<double>(before), static_cast<double>(after))};
}

Compared of_time(std::string what, std::uint64_t before_us, std::uint64_t after_us) {
    return {std::move(what), time_text(before_us), time_text(after_us),
            change(static_cast<double>(before_us), static_cast<double>(after_us))};
}

Compared of_count(std::string what, std::uint64_t before, std::uint64_t after) {
    return {std::move(what), count_text(before), count_text(after),
            change(static_cast<double>(before), static_cast<double>(after))};
}

Compared of_figure(std::string what, Unit unit, std::uint64_t before, std::uint64_t after) {
    switch (unit) {
        case Unit::kib:
            return of_size(std::move(what), before << 10, after << 10);
        case Unit::bytes:
            return of_size(std::move(what), before, after);
        case Unit::us:
            return of_time(std::move(what), before, after);
        case Unit::ns:
            return of_time(std::move(what), before / 1000, after / 1000);
        case Unit::count:
            break;
    }
    return of_count(std::move(what), before, after);
}

void add_figure(std::vector<Compared>& rows, Figure const& figure, Spread const& before, Spread const& after) {
    bool const both = figure.compared == Compare::both;
    Unit const unit = unit_of(figure.name);
    std::string const words = figure.words;
    if (both || figure.compared == Compare::most)
        rows.push_back(of_figure(words + ", most", unit, before.most, after.most));
    if (both || figure.compared == Compare::mean)
        rows.push_back(of_figure(words + ", mean", unit, static_cast<std::uint64_t>(before.mean()),
                                 static_cast<std::uint64_t>(after.mean())));
}

std::uint64_t bytes_sent(Summary const& s) {
    std::uint64_t sum = 0;
    for (SiteSum const& site : s.sites)
        sum += site.bytes_out;
    return sum;
}

std::uint64_t mean_hidden_us(Summary const& s) {
    return hidden_of(s).hidden_ns / 1000 / std::max<std::uint64_t>(s.ranks_seen, 1);
}

/// Adds the calls that cost most time in one of the two jobs, the greatest difference first.
void add_calls(std::vector<Compared>& rows, Summary const& before, Summary const& after) {
    struct Call {
        std::string name;
        std::uint64_t before, after;
    };
    std::vector<Call> calls;
    for (SiteSum const& site : before.sites) {
        SiteSum const* const other = after.site(site.id);
        calls.push_back({call_text(site.function, site.place), site.time_ns.sum / 1000,
                         other == nullptr ? 0 : other->time_ns.sum / 1000});
    }
    for (SiteSum const& site : after.sites)
        if (before.site(site.id) == nullptr)
            calls.push_back({call_text(site.function, site.place), 0, site.time_ns.sum / 1000});
    auto const difference = [](Call const& c) { return std::max(c.before, c.after) - std::min(c.before, c.after); };
    std::stable_sort(calls.begin(), calls.end(),
                     [&](Call const& a, Call const& b) { return difference(a) > difference(b); });
    for (std::size_t i = 0; i < std::min<std::size_t>(calls.size(), 4); ++i)
        if (difference(calls[i]) > 0)
            rows.push_back(of_time("time in " + calls[i].name, calls[i].before, calls[i].after));
}

std::string cut(std::string const& text, std::size_t columns) {
    std::string line = base::wrapped("", text, columns);
    return line.substr(0, line.find('\n'));
}

std::string padded(std::string const& text, std::size_t columns, bool right) {
    std::size_t const used = base::columns_of(text);
    std::string const blanks(used < columns ? columns - used : 0, ' ');
    return right ? blanks + text : text + blanks;
}

}  // namespace

std::vector<Compared> compared(Summary const& before, Summary const& after) {
    std::vector<Compared> rows;
    rows.push_back(of_count("ranks", before.world_size, after.world_size));
    rows.push_back({"outcome", before.all_seen_ended() ? "ended" : "did not end",
                    after.all_seen_ended() ? "ended" : "did not end",
                    before.all_seen_ended() == after.all_seen_ended() ? "same" : ""});
    rows.push_back(of_time("run time", before.duration_us, after.duration_us));
    for (Figure const& figure : figures())
        if (figure.words != nullptr) add_figure(rows, figure, before.*figure.of_ranks, after.*figure.of_ranks);
    if (std::uint64_t const old = mean_hidden_us(before), now = mean_hidden_us(after); old + now > 0)
        rows.push_back(of_time("waiting hidden, mean", old, now));
    rows.push_back(of_size("bytes sent", bytes_sent(before), bytes_sent(after)));
    rows.push_back(of_count("communicators", before.comms_total, after.comms_total));
    rows.push_back(of_count("all-to-alls served by Sluice", before.served_calls, after.served_calls));
    add_calls(rows, before, after);
    return rows;
}

std::string to_screen(Summary const& before, Summary const& after) {
    constexpr std::size_t k_what = 52;
    std::string text = padded("Sluice report", k_what, false) + padded("before", 14, true) + padded("after", 14, true) +
                       padded("change", 10, true) + "\n";
    for (Compared const& row : compared(before, after))
        text += padded(cut(row.what, k_what), k_what, false) + padded(row.before, 14, true) +
                padded(row.after, 14, true) + padded(row.change, 10, true) + "\n";
    return text;
}

}  // namespace sluice::report
