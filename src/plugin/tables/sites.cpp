// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/sites.hpp"

#include <cstdio>
#include <cstring>

#include "plugin/tables/place.hpp"

namespace sluice::plugin {

Sites::Sites(record::RankRecord& record) : record_(record) {
    std::snprintf(record_.sites[0].place.data(), record_.sites[0].place.size(), "other places");
    record_.head.sites = 1;
}

std::uint32_t Sites::add(Function function, void const* caller, std::uint64_t key) noexcept {
    std::lock_guard const lock(adding_);
    std::size_t at = slot_of(key);
    std::size_t probes = 0;
    for (; slots_[at].key.load(std::memory_order_relaxed) != 0; at = (at + 1) % k_slots, ++probes)
        if (slots_[at].key.load(std::memory_order_relaxed) == key) return slots_[at].index;
    // The table stays half empty, so that a search for what is not in it ends soon; the rest is not told apart.
    if (record_.head.sites >= record::k_sites) return 0;
    auto const index = static_cast<std::uint32_t>(record_.head.sites);
    record::Site& site = record_.sites[index];
    site.address = reinterpret_cast<std::uint64_t>(caller);
    site.function = static_cast<std::uint32_t>(function);
    site.kind = k_function_kinds[site.function];
    describe_place(caller, site.place);
    ++record_.head.sites;
    slots_[at].index = index;
    slots_[at].key.store(key, std::memory_order_release);
    return index;
}

}  // namespace sluice::plugin
