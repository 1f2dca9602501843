// SPDX-License-Identifier: BSD-3-Clause
/// What the arguments of an all-to-all in place say of its blocks, and whether MPI would accept them. MPI has not seen
/// the call yet.
///
///     block of elements ── at MPI_IN_PLACE, or at address 0 with no address in type or displacement ──> MPI refuses it
///                       ── anywhere else, of a type that can be used ──> it may be served
///
/// A call that MPI accepts must be judged alike on all ranks, or one would serve while another is in MPI. So a block at
/// address 0 (MPI_BOTTOM) is left to MPI only where it would be wrong. And whether a type that is not known can be used
/// (a reference that MPI_Type_get_contents gave, one of this MPI's own) is asked by unpacking none of it, on a
/// communicator of Sluice's: MPI refuses what is not committed, and calls no error handler of the program.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "plugin/tables/datatypes.hpp"
#include "plugin/watch/call.hpp"
#include "plugin/watch/watch.hpp"

namespace sluice::plugin {

/// This MPI looks at buffer and types of blocks without elements, too, and never at address 0.
#ifdef OPEN_MPI
inline constexpr bool k_is_open_mpi = true;
#else
inline constexpr bool k_is_open_mpi = false;
#endif

class BlocksOfCall {
  public:
    /// `asked`: a communicator of Sluice's that returns errors; MPI_COMM_NULL: a type that is not known cannot be used.
    BlocksOfCall(Call& call, MPI_Comm asked) noexcept : types_(call.watch().datatypes()), asked_(asked) {}

    /// Bytes of elements of one type. Nothing where the count is negative, the type unknown or the place wrong: that is
    /// for MPI to refuse.
    std::optional<std::uint64_t> bytes_at(void const* buffer, MPI_Count displacement, MPI_Count count,
                                          MPI_Datatype type) noexcept {
        if (count < 0 || (count > 0 && !has_place(buffer, displacement, type))) return std::nullopt;
        return bytes(count, type);
    }
    template <class Count>
    std::uint64_t bytes_of(int block, Count const counts[], MPI_Datatype type) noexcept {
        return bytes(counts[block], type).value_or(0);
    }
    template <class Count>
    std::uint64_t bytes_of(int block, Count const counts[], MPI_Datatype const types[]) noexcept {
        return bytes(counts[block], types[block]).value_or(0);
    }
    /// Of the largest block of a call whose blocks have one type.
    template <class Count, class Displacement>
    std::optional<std::uint64_t> largest_at(void const* buffer, Count const counts[], Displacement const places[],
                                            MPI_Datatype type, int size) noexcept {
        if (!shape_of(type) || (k_is_open_mpi && placed(buffer))) return std::nullopt;
        return largest(size, [&](int i) { return bytes_at(buffer, places[i], counts[i], type); });
    }
    /// Of a call whose blocks have a type each.
    template <class Count, class Displacement>
    std::optional<std::uint64_t> largest_at(void const* buffer, Count const counts[], Displacement const places[],
                                            MPI_Datatype const types[], int size) noexcept {
        if (k_is_open_mpi && placed(buffer)) return std::nullopt;
        return largest(size, [&](int i) {
            if (k_is_open_mpi && !shape_of(types[i])) return std::optional<std::uint64_t>();
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
    std::optional<std::uint64_t> bytes(MPI_Count count, MPI_Datatype type) noexcept {
        if (count == 0) return 0;
        auto const shape = shape_of(type);
        return shape ? std::optional(static_cast<std::uint64_t>(count) * shape->size) : std::nullopt;
    }
    /// Nothing for a type that cannot be used.
    std::optional<TypeSize> shape_of(MPI_Datatype type) noexcept {
        if (std::uint64_t const size = g_plugin.dense_types.size_of(type); size > 0) [[likely]]
            return TypeSize{size, size, 0, size};
        if (auto const known = types_.find(type)) return known;
        if (!has_asked_ || type != type_asked_) {
            shape_asked_ = is_accepted(type) ? size_of_accepted(type) : std::nullopt;
            type_asked_ = type;
            has_asked_ = true;
        }
        return shape_asked_;
    }
    bool is_accepted(MPI_Datatype type) const noexcept {
        if (type == MPI_DATATYPE_NULL || asked_ == MPI_COMM_NULL) return false;
        char nothing = 0;
        int at = 0;
        return MPI_Unpack(&nothing, 0, &at, &nothing, 0, type, asked_) == MPI_SUCCESS;
    }
    bool has_place(void const* buffer, MPI_Count displacement, MPI_Datatype type) noexcept {
        if (placed(buffer)) return false;
        if (buffer != nullptr || displacement != 0) [[likely]]
            return true;
        auto const shape = shape_of(type);
        return shape && (shape->low != 0 || (k_is_open_mpi && shape->size == 0));
    }

    Datatypes& types_;
    MPI_Comm asked_;
    MPI_Datatype type_asked_{};
    std::optional<TypeSize> shape_asked_;
    bool has_asked_ = false;
};

}  // namespace sluice::plugin
