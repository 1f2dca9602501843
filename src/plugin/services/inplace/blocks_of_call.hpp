// SPDX-License-Identifier: BSD-3-Clause
/// What the arguments of an all-to-all in place say of its blocks, and whether MPI would accept them. MPI has not seen
/// the call yet and is not asked.
///
///     block of elements ── at MPI_IN_PLACE, or at address 0 with no address in type or displacement ──> MPI refuses it
///                       ── anywhere else, of a type that can be used ──> it may be served
///
/// A call that MPI accepts must be judged alike on all ranks, or one would serve while another is in MPI. So a block at
/// address 0 (MPI_BOTTOM) is left to MPI only where it would be wrong.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "plugin/tables/message_bytes.hpp"
#include "plugin/watch/call.hpp"

namespace sluice::plugin {

/// This MPI looks at buffer and types of blocks without elements, too, and never at address 0.
#ifdef OPEN_MPI
inline constexpr bool k_is_open_mpi = true;
#else
inline constexpr bool k_is_open_mpi = false;
#endif

class BlocksOfCall {
  public:
    explicit BlocksOfCall(Call& call) noexcept
        : types_(call.watch().datatypes()), sizes_(call.watch().communicators(), types_) {}

    /// Bytes of elements of one type. Nothing where the count is negative, the type unknown or the place wrong: that is
    /// for MPI to refuse.
    std::optional<std::uint64_t> bytes_at(void const* buffer, MPI_Count displacement, MPI_Count count,
                                          MPI_Datatype type) noexcept {
        if (count < 0 || (count > 0 && !has_place(buffer, displacement, type))) return std::nullopt;
        std::uint64_t const bytes = sizes_.bytes(count, type);
        if (sizes_.left_out()) return std::nullopt;
        return bytes;
    }
    template <class Count>
    std::uint64_t bytes_of(int block, Count const counts[], MPI_Datatype type) noexcept {
        return sizes_.bytes(counts[block], type);
    }
    template <class Count>
    std::uint64_t bytes_of(int block, Count const counts[], MPI_Datatype const types[]) noexcept {
        return sizes_.bytes(counts[block], types[block]);
    }
    /// Of the largest block of a call whose blocks have one type.
    template <class Count, class Displacement>
    std::optional<std::uint64_t> largest_at(void const* buffer, Count const counts[], Displacement const places[],
                                            MPI_Datatype type, int size) noexcept {
        if (!is_known(type) || (k_is_open_mpi && placed(buffer))) return std::nullopt;
        return largest(size, [&](int i) { return bytes_at(buffer, places[i], counts[i], type); });
    }
    /// Of a call whose blocks have a type each.
    template <class Count, class Displacement>
    std::optional<std::uint64_t> largest_at(void const* buffer, Count const counts[], Displacement const places[],
                                            MPI_Datatype const types[], int size) noexcept {
        if (k_is_open_mpi && placed(buffer)) return std::nullopt;
        return largest(size, [&](int i) {
            if (k_is_open_mpi && !is_known(types[i])) return std::optional<std::uint64_t>();
            return bytes_at(buffer, places[i], counts[i], types[i]);
        });
    }

  private:
    template <class BytesOf>
    static std::optional<std::uint64_t> largest(int size, BytesOf const& bytes_of) noexcept {
        std::uint64_t most = 0;
        for (int i = 0; i < size; ++i) {
            std::optional<std::uint64_t> const bytes = bytes_of(i);
            if (!bytes) return std::nullopt;
            most = std::max(most, *bytes);
        }
        return most;
    }
    bool is_known(MPI_Datatype type) noexcept {
        return g_plugin.dense_types.size_of(type) > 0 || types_.find(type).has_value();
    }
    bool has_place(void const* buffer, MPI_Count displacement, MPI_Datatype type) noexcept {
        if (placed(buffer)) return false;
        if (buffer != nullptr || displacement != 0) [[likely]]
            return true;
        auto const known = types_.find(type);
        return known && (known->low != 0 || (k_is_open_mpi && known->size == 0));
    }

    Datatypes& types_;
    MessageBytes sizes_;
};

}  // namespace sluice::plugin
