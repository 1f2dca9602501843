// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/watch/touching.hpp"

#include <array>
#include <limits>
#include <optional>

#include "plugin/binding/plugin.hpp"

namespace sluice::plugin {

namespace {

constexpr std::uintptr_t k_page = 4096;

}  // namespace

void Touching::text(char const* text) noexcept {
    if (memory_.wants_all()) memory_.reads(text, k_page - reinterpret_cast<std::uintptr_t>(text) % k_page);
}

void Touching::calls(MPI_Op op) noexcept {
    if (!memory_.wants_all()) return;
    std::array const own{MPI_MAX, MPI_MIN,  MPI_SUM,  MPI_PROD,   MPI_LAND,   MPI_BAND,    MPI_LOR,
                         MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
    if (std::find(own.begin(), own.end(), op) == own.end()) memory_.anything();
}

void Touching::collective(MPI_Comm comm) noexcept {
    Known const known = sizes_.known(comm);
    if (known.size == 0) memory_.anything();
}

Room Touching::span_of(void const* buffer, MPI_Count count, MPI_Datatype type) noexcept {
    constexpr auto k_longest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (count <= 0) return {};
    if (std::uint64_t const size = g_plugin.dense_types.size_of(type); size > 0) [[likely]]
        return {0, static_cast<std::int64_t>(std::min(static_cast<std::uint64_t>(count) * size, k_longest))};
    std::optional<TypeSize> const known = types_.find(type);
    // The addresses in a type may be absolute, and the elements of a type may follow each other backwards.
    bool const is_absolute = buffer == MPI_BOTTOM;
    if (!known || is_absolute || (count > 1 && known->extent == 0)) {
        if (!known || known->size > 0) memory_.anything();
        return {};
    }
    auto const others = static_cast<std::int64_t>(static_cast<std::uint64_t>(count - 1) * known->extent);
    return {known->low, known->low + others + static_cast<std::int64_t>(known->span)};
}

void Touching::message(void const* buffer, MPI_Count count, MPI_Datatype type, bool writes) noexcept {
    if (!placed(buffer)) add(buffer, span_of(buffer, count, type), writes, sizes_.bytes(count, type));
}

void Touching::add(void const* buffer, Room const& room, bool writes, std::uint64_t data) noexcept {
    if (buffer == MPI_BOTTOM || room.span() == 0) return;
    auto const* const from = static_cast<char const*>(buffer) + room.begin;
    memory_.message(from, room.span(), writes, data);
}

}  // namespace sluice::plugin
