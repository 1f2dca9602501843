// SPDX-License-Identifier: BSD-3-Clause
#include "report/summary/sites/sites.hpp"

#include <algorithm>
#include <string>

#include "report/summary/merge.hpp"
#include "report/summary/sites/site_figures.hpp"
#include "report/summary/valid.hpp"

namespace sluice::report {

namespace {

std::string function_name(Scope const& scope, std::uint32_t function) {
    if (function < scope.functions.size() && scope.functions[function] != nullptr) return scope.functions[function];
    return "function " + std::to_string(function);
}

/// What is added up the same way for one rank and for several: all but the spreads.
void add_plain_figures(SiteSum& into, SiteSum const& from) {
    for (SumOfSite const& figure : k_sums_of_site)
        into.*figure.sum += from.*figure.sum;
    into.code = std::max(into.code, from.code);  // files of several nodes may differ: any of them will do
    into.first_us = std::min(into.first_us, from.first_us);
    into.last_us = std::max(into.last_us, from.last_us);
    into.growing_since_us = earlier(into.growing_since_us, from.growing_since_us);
    into.object = std::max(into.object, from.object);
    for (std::size_t i = 0; i < record::k_sizes; ++i)
        into.sizes[i] += from.sizes[i];
}

/// The peak of the rank that has most in flight goes with it.
void add_spreads(SiteSum& into, SiteSum const& from) {
    std::uint32_t const rank = into.in_flight.most_rank;
    for (SpreadOfSite const& figure : k_spreads_of_site)
        (into.*figure.spread).add(from.*figure.spread);
    if (into.in_flight.most_rank != rank) into.in_flight_peak_kib = from.in_flight_peak_kib;
}

}  // namespace

SiteSum site_sum(record::Site const& site, Scope const& scope, std::uint32_t rank, bool other) {
    SiteSum sum;
    if (!other) {
        sum.function = function_name(scope, site.function);
        sum.place = text_of(site.place);
        sum.code = {site.file_mark, site.offset};
        sum.id = site_id(sum.function, sum.place);
        sum.kind = static_cast<record::Kind>(kind_index(site.kind));
    } else {
        sum.function = "other calls";
    }
    for (SumOfSite const& figure : k_sums_of_site)
        sum.*figure.sum = site.*figure.of;
    for (SpreadOfSite const& figure : k_spreads_of_site)
        sum.*figure.spread = Spread::of(figure.of(site), rank);
    sum.first_us = site.first_us;
    sum.last_us = site.last_us;
    sum.growing_since_us = site.growing_since_us;
    sum.growing_ranks = site.growing_since_us > 0 ? 1 : 0;
    sum.object = other ? record::Object::none : checked(site.object);
    std::copy(site.sizes.begin(), site.sizes.end(), sum.sizes.begin());
    return sum;
}

void add_same_rank(SiteSum& into, SiteSum const& from) {
    std::uint32_t const rank = into.time_ns.most_rank;
    for (SpreadOfSite const& figure : k_spreads_of_site) {
        Spread& mine = into.*figure.spread;
        Spread const& its = from.*figure.spread;
        mine = Spread::of(figure.same_rank == Of::sum ? mine.sum + its.sum : std::max(mine.most, its.most), rank);
    }
    add_plain_figures(into, from);
    into.growing_ranks = into.growing_since_us > 0 ? 1 : 0;
}

void add_site(SiteSum& into, SiteSum const& from) {
    add_spreads(into, from);
    into.growing_ranks += from.growing_ranks;
    add_plain_figures(into, from);
}

}  // namespace sluice::report
