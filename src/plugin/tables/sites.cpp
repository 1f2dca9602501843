// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/sites.hpp"

#include <cstdio>
#include <cstring>

#include "plugin/binding/callers/callers.hpp"
#include "plugin/tables/place.hpp"

namespace sluice::plugin {

Sites::Sites(record::RankRecord& record) : record_(record) {
    std::snprintf(record_.sites[0].place.data(), record_.sites[0].place.size(), "other places");
    record_.head.sites = 1;
}

std::optional<std::uint32_t> Sites::add(Function function, void const* caller) noexcept {
    if (record_.head.sites >= record::k_sites) return std::nullopt;
    auto const index = static_cast<std::uint32_t>(record_.head.sites);
    record::Site& site = record_.sites[index];
    site.address = reinterpret_cast<std::uint64_t>(caller);
    site.function = static_cast<std::uint32_t>(function);
    site.kind = k_function_kinds[site.function];
    find_new_wrapping_code(caller);
    PlaceInFile const where = describe_place(caller, site.place);
    site.offset = where.offset;
    site.file_mark = where.mark;
    ++record_.head.sites;
    return index;
}

}  // namespace sluice::plugin
