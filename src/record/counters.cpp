// SPDX-License-Identifier: BSD-3-Clause
#include "record/counters.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>

namespace sluice::record {

namespace {

template <std::size_t N>
std::array<char, N> name_of(std::string_view text) noexcept {
    std::array<char, N> name{};
    text.copy(name.data(), N - 1);
    return name;
}

}  // namespace

std::uint64_t& counter_in(RankRecord& record, std::string_view service, std::string_view what) noexcept {
    Counter wanted{name_of<k_counter_service>(service), name_of<k_counter_what>(what)};
    auto const begin = record.counters.begin();
    auto const used = static_cast<std::ptrdiff_t>(record.head.counters);
    auto const found = std::find_if(begin, begin + used, [&wanted](Counter const& counter) {
        return counter.service == wanted.service && counter.what == wanted.what;
    });
    if (found != begin + used) return found->value;
    if (record.head.counters == k_counters) return record.counters.back().value;
    if (record.head.counters + 1 == k_counters)
        wanted = {name_of<k_counter_service>("other services"), name_of<k_counter_what>("further events")};
    Counter& made = record.counters[record.head.counters];
    made = wanted;
    // A reader of the file finds the names of every counter that is in use.
    std::atomic_ref(record.head.counters).store(record.head.counters + 1, std::memory_order_release);
    return made.value;
}

}  // namespace sluice::record
