// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/message_bytes.hpp"

#include <algorithm>

#include <optional>
#include <type_traits>

namespace sluice::plugin {

namespace {

void widen(Room& room, std::int64_t begin, std::uint64_t span) noexcept {
    if (span == 0) return;
    auto const end = begin + static_cast<std::int64_t>(span);
    bool const first = room.span() == 0;
    room.begin = first ? begin : std::min(room.begin, begin);
    room.end = first ? end : std::max(room.end, end);
}

}  // namespace

void learn_types(Datatypes& types) noexcept {
    // The first ones are those of most messages (DenseTypes::add).
    for (MPI_Datatype const type : {MPI_BYTE,
                                    MPI_CHAR,
                                    MPI_DOUBLE,
                                    MPI_INT,
                                    MPI_FLOAT,
                                    MPI_LONG,
                                    MPI_DOUBLE_PRECISION,
                                    MPI_INTEGER,
                                    MPI_REAL,
                                    MPI_PACKED,
                                    MPI_INT64_T,
                                    MPI_UINT64_T,
                                    MPI_UNSIGNED_LONG,
                                    MPI_UNSIGNED,
                                    MPI_INT32_T,
                                    MPI_UINT32_T,
                                    MPI_SHORT,
                                    MPI_INT8_T,
                                    MPI_UINT8_T,
                                    MPI_UNSIGNED_CHAR,
                                    MPI_SIGNED_CHAR,
                                    MPI_INT16_T,
                                    MPI_UINT16_T,
                                    MPI_LOGICAL,
                                    MPI_COMPLEX,
                                    MPI_CHARACTER,
                                    MPI_LONG_LONG,
                                    MPI_DOUBLE_COMPLEX,
                                    MPI_C_BOOL,
                                    MPI_AINT,
                                    MPI_OFFSET,
                                    MPI_COUNT,
                                    MPI_C_DOUBLE_COMPLEX,
                                    MPI_UNSIGNED_SHORT,
                                    MPI_UNSIGNED_LONG_LONG,
                                    MPI_LONG_DOUBLE,
                                    MPI_WCHAR,
                                    MPI_C_FLOAT_COMPLEX,
                                    MPI_C_LONG_DOUBLE_COMPLEX,
                                    MPI_INTEGER1,
                                    MPI_INTEGER2,
                                    MPI_INTEGER4,
                                    MPI_INTEGER8,
                                    MPI_REAL4,
                                    MPI_REAL8,
                                    MPI_REAL16,
                                    MPI_COMPLEX8,
                                    MPI_COMPLEX16,
                                    MPI_COMPLEX32,
                                    MPI_FLOAT_INT,
                                    MPI_DOUBLE_INT,
                                    MPI_LONG_INT,
                                    MPI_SHORT_INT,
                                    MPI_2INT,
                                    MPI_LONG_DOUBLE_INT,
                                    MPI_2REAL,
                                    MPI_2DOUBLE_PRECISION,
                                    MPI_2INTEGER,
                                    MPI_CXX_BOOL,
                                    MPI_CXX_FLOAT_COMPLEX,
                                    MPI_CXX_DOUBLE_COMPLEX,
#ifdef MPIX_C_FLOAT16
                                    MPIX_C_FLOAT16,
#endif
                                    MPI_CXX_LONG_DOUBLE_COMPLEX}) {
        if (type == MPI_DATATYPE_NULL) continue;
        TypeSize const size = size_from_mpi(type);
        if (size.size == 0) continue;
        types.add(type);
        MPI_Count low = 0;
        MPI_Count extent = 0;
        if (size.extent == size.size && MPI_Type_get_extent_x(type, &low, &extent) == MPI_SUCCESS && low == 0)
            g_plugin.dense_types.add(type, size.size);
    }
}

TypeSize MessageBytes::size_of(MPI_Datatype type) noexcept {
    if (std::optional<TypeSize> const known = types_->find(type)) [[likely]]
        return *known;
    left_out_ = true;
    if (!may_ask_ || type == MPI_DATATYPE_NULL) return {};
    return size_of_accepted(type).value_or(TypeSize{});
}

Known const& MessageBytes::known_as(MPI_Comm comm) noexcept {
    if (has_known_ && comm == comm_) return known_;
    comm_ = comm;
    known_ = communicators_->find(comm);
    has_known_ = known_.size > 0 || known_.remote > 0;
    if (has_known_) return known_;
    left_out_ = true;
    if (may_ask_ && comm != MPI_COMM_NULL) {
        known_ = shape_from_mpi(comm);
        has_known_ = true;
    }
    return known_;
}

template <class Count, class Types>
std::uint64_t MessageBytes::bytes(Count const counts[], Types types, std::uint64_t n, std::uint64_t left_out) noexcept {
    if (counts == nullptr) return 0;
    auto const is_left_out = [left_out](std::uint64_t i) { return i < 64 && (left_out >> i & 1U) != 0; };
    if constexpr (std::is_same_v<Types, MPI_Datatype>) {
        std::uint64_t total = 0;
        for (std::uint64_t i = 0; i < n; ++i)
            if (!is_left_out(i)) total += static_cast<std::uint64_t>(std::max<Count>(counts[i], 0));
        return total > 0 ? bytes(1, types) * total : 0;
    } else {
        std::uint64_t total = 0;
        for (std::uint64_t i = 0; types != nullptr && i < n; ++i)
            if (counts[i] > 0 && !is_left_out(i)) total += bytes(counts[i], types[i]);
        return total;
    }
}

std::uint64_t MessageBytes::span_of(MPI_Count count, MPI_Datatype type) noexcept {
    if (count <= 0) return 0;
    if (std::uint64_t const size = g_plugin.dense_types.size_of(type); size > 0) [[likely]]
        return static_cast<std::uint64_t>(count) * size;
    TypeSize const size = size_of(type);
    return static_cast<std::uint64_t>(count) * (size.extent > 0 ? size.extent : size.size);
}

std::optional<FlyingRange> MessageBytes::message(void const* buffer, MPI_Count count, MPI_Datatype type) noexcept {
    if (count <= 0) return FlyingRange{};
    auto const address = reinterpret_cast<std::uintptr_t>(buffer);
    auto const number = static_cast<std::uint64_t>(count);
    if (std::uint64_t const size = g_plugin.dense_types.size_of(type); size > 0) [[likely]]
        return FlyingRange{address, number * size, number * size};
    std::optional<TypeSize> const known = types_->find(type);
    // The addresses in a type may be absolute, and its elements may follow each other backwards.
    if (!known || buffer == MPI_BOTTOM || (count > 1 && known->extent == 0)) return std::nullopt;
    std::uint64_t const span = known->span + (number - 1) * known->extent;
    return FlyingRange{address + static_cast<std::uintptr_t>(known->low), span, std::min(number * known->size, span)};
}

template <class Count, class Displacement, class Types>
Room MessageBytes::room(Count const counts[], Displacement const displacements[], Types types,
                        std::uint64_t n) noexcept {
    Room all;
    if (counts == nullptr || displacements == nullptr) return all;
    if constexpr (std::is_same_v<Types, MPI_Datatype>) {
        std::uint64_t extent = 0;
        for (std::uint64_t i = 0; i < n; ++i) {
            if (counts[i] <= 0) continue;
            if (extent == 0) extent = span_of(1, types);
            widen(all, static_cast<std::int64_t>(displacements[i]) * static_cast<std::int64_t>(extent),
                  static_cast<std::uint64_t>(counts[i]) * extent);
        }
    } else {
        for (std::uint64_t i = 0; types != nullptr && i < n; ++i)
            if (counts[i] > 0) widen(all, static_cast<std::int64_t>(displacements[i]), span_of(counts[i], types[i]));
    }
    return all;
}

template std::uint64_t MessageBytes::bytes(int const*, MPI_Datatype, std::uint64_t, std::uint64_t) noexcept;
template std::uint64_t MessageBytes::bytes(MPI_Count const*, MPI_Datatype, std::uint64_t, std::uint64_t) noexcept;
template std::uint64_t MessageBytes::bytes(int const*, MPI_Datatype const*, std::uint64_t, std::uint64_t) noexcept;
template std::uint64_t MessageBytes::bytes(MPI_Count const*, MPI_Datatype const*, std::uint64_t,
                                           std::uint64_t) noexcept;
template Room MessageBytes::room(int const*, int const*, MPI_Datatype, std::uint64_t) noexcept;
template Room MessageBytes::room(MPI_Count const*, MPI_Aint const*, MPI_Datatype, std::uint64_t) noexcept;
template Room MessageBytes::room(int const*, int const*, MPI_Datatype const*, std::uint64_t) noexcept;
template Room MessageBytes::room(int const*, MPI_Aint const*, MPI_Datatype const*, std::uint64_t) noexcept;
template Room MessageBytes::room(MPI_Count const*, MPI_Aint const*, MPI_Datatype const*, std::uint64_t) noexcept;

}  // namespace sluice::plugin
