// SPDX-License-Identifier: BSD-3-Clause
#include "report/summary/sites/sites.hpp"

#include <algorithm>
#include <string>

#include "report/summary/merge.hpp"
#include "report/summary/valid.hpp"

namespace sluice::report {

namespace {

std::string function_name(Scope const& scope, std::uint32_t function) {
    if (function < scope.functions.size() && scope.functions[function] != nullptr) return scope.functions[function];
    return "function " + std::to_string(function);
}

/// Adds all fields but the spreads.
void add_plain_figures(SiteSum& into, SiteSum const& from) {
    into.code = std::max(into.code, from.code);  // files of several nodes may differ: any of them will do
    into.calls += from.calls;
    into.bytes_out += from.bytes_out;
    into.bytes_in += from.bytes_in;
    into.first_us = std::min(into.first_us, from.first_us);
    into.last_us = std::max(into.last_us, from.last_us);
    into.growing_since_us = earlier(into.growing_since_us, from.growing_since_us);
    into.unplaced_bytes += from.unplaced_bytes;
    into.in_place += from.in_place;
    into.other_buffers += from.other_buffers;
    into.new_bytes += from.new_bytes;
    into.deferred += from.deferred;
    into.made += from.made;
    into.object = std::max(into.object, from.object);
    for (std::size_t i = 0; i < record::k_sizes; ++i)
        into.sizes[i] += from.sizes[i];
}

void add_flight(SiteSum& into, SiteSum const& from) {
    std::uint32_t const rank = into.in_flight.most_rank;
    into.in_flight.add(from.in_flight);
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
    sum.calls = site.calls;
    sum.bytes_out = site.bytes_out;
    sum.bytes_in = site.bytes_in;
    sum.time_ns = Spread::of(site.time_ns, rank);
    sum.waiting_ns = Spread::of(site.waiting_ns, rank);
    sum.bytes = Spread::of(site.bytes_out + site.bytes_in, rank);
    sum.longest_ns = Spread::of(site.longest_ns, rank);
    sum.grown = Spread::of(site.grown_private + site.grown_shared, rank);
    sum.grown_own = Spread::of(site.grown_own, rank);
    sum.in_flight = Spread::of(site.in_flight_peak, rank);
    sum.first_us = site.first_us;
    sum.last_us = site.last_us;
    sum.growing_since_us = site.growing_since_us;
    sum.growing_ranks = site.growing_since_us > 0 ? 1 : 0;
    sum.unplaced_bytes = site.unplaced_bytes;
    sum.in_place = site.in_place;
    sum.other_buffers = site.other_buffers;
    sum.new_bytes = site.new_bytes;
    sum.object = other ? record::Object::none : checked(site.object);
    sum.made = site.made;
    sum.left = Spread::of(site.made - std::min(site.made, site.freed), rank);
    sum.deferred = site.deferred;
    sum.hidden_ns = Spread::of(site.hidden_ns, rank);
    sum.left_ns = Spread::of(site.left_ns, rank);
    sum.moving_ns = Spread::of(site.moving_ns, rank);
    std::copy(site.sizes.begin(), site.sizes.end(), sum.sizes.begin());
    return sum;
}

void add_same_rank(SiteSum& into, SiteSum const& from) {
    std::uint32_t const rank = into.time_ns.most_rank;
    auto const plus = [rank](Spread& a, Spread const& b) { a = Spread::of(a.sum + b.sum, rank); };
    auto const most = [rank](Spread& a, Spread const& b) { a = Spread::of(std::max(a.most, b.most), rank); };
    plus(into.time_ns, from.time_ns);
    plus(into.waiting_ns, from.waiting_ns);
    plus(into.bytes, from.bytes);
    most(into.longest_ns, from.longest_ns);
    plus(into.grown, from.grown);
    plus(into.grown_own, from.grown_own);
    most(into.in_flight, from.in_flight);
    plus(into.left, from.left);
    plus(into.hidden_ns, from.hidden_ns);
    plus(into.left_ns, from.left_ns);
    plus(into.moving_ns, from.moving_ns);
    add_plain_figures(into, from);
    into.growing_ranks = into.growing_since_us > 0 ? 1 : 0;
}

void add_site(SiteSum& into, SiteSum const& from) {
    into.time_ns.add(from.time_ns);
    into.waiting_ns.add(from.waiting_ns);
    into.bytes.add(from.bytes);
    into.longest_ns.add(from.longest_ns);
    into.grown.add(from.grown);
    into.grown_own.add(from.grown_own);
    add_flight(into, from);
    into.left.add(from.left);
    into.hidden_ns.add(from.hidden_ns);
    into.left_ns.add(from.left_ns);
    into.moving_ns.add(from.moving_ns);
    into.growing_ranks += from.growing_ranks;
    add_plain_figures(into, from);
}

}  // namespace sluice::report
