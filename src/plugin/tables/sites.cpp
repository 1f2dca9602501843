// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/sites.hpp"

#include <cstdio>
#include <cstring>

#include "plugin/binding/callers/callers.hpp"
#include "plugin/binding/module.hpp"
#include "plugin/binding/tally.hpp"
#include "plugin/tables/place.hpp"

namespace sluice::plugin {

Sites::Sites(record::RankRecord& record) : record_(record) {
    std::snprintf(record_.sites[0].place.data(), record_.sites[0].place.size(), "other places");
    record_.head.sites = 1;
}

std::optional<std::uint32_t> Sites::add(Function function, void const* caller) noexcept {
    std::lock_guard const lock(adding_);
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
    slots_[index] = {may_be_unloaded(caller), index, unloads()};
    ++record_.head.sites;
    return index;
}

std::optional<std::uint32_t> Sites::known_at(Function function, std::uint64_t mark,
                                             std::uint64_t offset) const noexcept {
    for (std::uint32_t i = 1; mark != 0 && i < record_.head.sites; ++i) {
        record::Site const& site = record_.sites[i];
        if (site.function == static_cast<std::uint32_t>(function) && site.file_mark == mark && site.offset == offset)
            return i;
    }
    return std::nullopt;
}

/// A caller that is in MPI now is not unloaded meanwhile.
std::uint32_t Sites::site_now(std::uint32_t index, Function function, void const* caller) noexcept {
    Slot& slot = slots_[index];
    std::uint64_t const gone = unloads();
    if (look_at(slot.unloads) != gone) {
        std::array<char, record::k_place> unused;
        PlaceInFile const where = describe_place(caller, unused);
        std::optional<std::uint32_t> found = known_at(function, where.mark, where.offset);
        if (!found) found = add(function, caller);
        put(slot.site, found.value_or(0));
        put(slot.unloads, gone);
    }
    return look_at(slot.site);
}

}  // namespace sluice::plugin
