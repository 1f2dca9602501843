// SPDX-License-Identifier: BSD-3-Clause
/// The words of `touches=` in functions.txt: what a call may touch, from its arguments. Only the tables are asked: for
/// a datatype or a communicator that they do not know the call touches anything.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "plugin/tables/message_bytes.hpp"
#include "plugin/watch/touched_memory.hpp"
#include "plugin/watch/watch.hpp"

namespace sluice::plugin {

class Touching {
  public:
    Touching(TouchedMemory& memory, Watch& watch) noexcept
        : memory_(memory), types_(watch.datatypes()), sizes_(watch.communicators(), watch.datatypes()) {}
    Touching(Touching const&) = delete;
    Touching& operator=(Touching const&) = delete;
    [[gnu::noinline]] ~Touching() {
        if (sizes_.left_out()) memory_.anything();
    }

    void anything() noexcept {
        if (memory_.wants_all()) memory_.anything();
    }
    /// A message of `count` elements.
    void reads(void const* buffer, MPI_Count count, MPI_Datatype type) noexcept { message(buffer, count, type, false); }
    void writes(void const* buffer, MPI_Count count, MPI_Datatype type) noexcept { message(buffer, count, type, true); }
    /// Blocks, as MPI_Alltoallv has them, and the arrays that tell them. With MPI_IN_PLACE the arrays mean nothing.
    template <class Count, class Displacement, class Types>
    void reads_blocks(void const* buffer, Count const* counts, Displacement const* displacements, Types types,
                      std::uint64_t n) noexcept {
        blocks(buffer, counts, displacements, types, n, false);
    }
    template <class Count, class Displacement, class Types>
    void writes_blocks(void const* buffer, Count const* counts, Displacement const* displacements, Types types,
                       std::uint64_t n) noexcept {
        blocks(buffer, counts, displacements, types, n, true);
    }
    /// Arrays of `n` entries.
    template <class T, class Count>
    void reads_list(T const* list, Count n) noexcept {
        if (memory_.wants_all()) memory_.reads(list, bytes_of<T>(n));
    }
    template <class T, class Count>
    void changes(T const* list, Count n) noexcept {
        if (memory_.wants_all()) memory_.writes(list, bytes_of<T>(n));
    }
    /// What a pointer to one object points to.
    template <class T>
    void one(T const* object) noexcept {
        if (memory_.wants_all()) memory_.writes(object, sizeof(T));
    }
    /// Bytes that MPI reads or writes.
    void memory(void const* from, MPI_Count bytes) noexcept { changes(static_cast<char const*>(from), bytes); }
    /// Where MPI puts an address.
    void pointer(void const* place) noexcept { changes(static_cast<char const*>(place), sizeof(void*)); }
    /// To the end of its page: a text that MPI accepts is short, and is not read here.
    void text(char const* text) noexcept;
    /// A reduction may run a function of the program.
    void calls(MPI_Op op) noexcept;
    /// So may the completion of a generalized request.
    void completes() noexcept {
        if (g_plugin.has_generalized_requests.load(std::memory_order_relaxed)) anything();
    }
    /// What a member of an intercommunicator gives and gets depends on the other group: anything.
    void collective(MPI_Comm comm) noexcept;

    static bool real(int rank) noexcept { return rank != MPI_PROC_NULL; }
    bool root_in(MPI_Comm comm, int root) noexcept { return sizes_.root_in(comm, root); }
    std::uint64_t size(MPI_Comm comm) noexcept { return sizes_.size(comm); }
    std::uint64_t sources(MPI_Comm comm) noexcept { return sizes_.sources(comm); }
    std::uint64_t targets(MPI_Comm comm) noexcept { return sizes_.targets(comm); }
    MPI_Count all_of(MPI_Count count, MPI_Comm comm) noexcept { return sizes_.all_of(count, comm); }
    static MPI_Count each_of(MPI_Count count, std::uint64_t n) noexcept { return MessageBytes::each_of(count, n); }
    template <class Count>
    MPI_Count my_count(Count const* counts, MPI_Comm comm) noexcept {
        return sizes_.my_count(counts, comm);
    }
    template <class Count, class Number>
    static MPI_Count total_of(Count const* counts, Number n) noexcept {
        MPI_Count total = 0;
        for (Number i = 0; counts != nullptr && i < n; ++i)
            total += std::max<Count>(counts[i], 0);
        return total;
    }
    static MPI_Count last_of(int const* ends, int n) noexcept { return ends != nullptr && n > 0 ? ends[n - 1] : 0; }

  private:
    template <class T, class Count>
    static std::uint64_t bytes_of(Count n) noexcept {
        if constexpr (std::is_signed_v<Count>)
            if (n < 0) return 0;
        return static_cast<std::uint64_t>(n) * sizeof(T);
    }
    static MPI_Datatype type_at(MPI_Datatype type, std::uint64_t) noexcept { return type; }
    static MPI_Datatype type_at(MPI_Datatype const* types, std::uint64_t i) noexcept { return types[i]; }

    /// From the first to behind the last byte that a message touches, from its buffer's begin. An empty one if that is
    /// not known: the call touches anything then.
    Room span_of(void const* buffer, MPI_Count count, MPI_Datatype type) noexcept;
    void message(void const* buffer, MPI_Count count, MPI_Datatype type, bool writes) noexcept;
    void add(void const* buffer, Room const& room, bool writes, std::uint64_t data) noexcept;

    template <class Count, class Displacement, class Types>
    [[gnu::noinline]] void blocks(void const* buffer, Count const* counts, Displacement const* displacements,
                                  Types types, std::uint64_t n, bool writes) noexcept;

    TouchedMemory& memory_;
    Datatypes& types_;
    MessageBytes sizes_;
};

template <class Count, class Displacement, class Types>
void Touching::blocks(void const* buffer, Count const* counts, Displacement const* displacements, Types types,
                      std::uint64_t n, bool writes) noexcept {
    if (placed(buffer)) return;
    reads_list(counts, n);
    reads_list(displacements, n);
    if constexpr (std::is_pointer_v<Types> && !std::is_same_v<Types, MPI_Datatype>) {
        reads_list(types, n);
        if (types == nullptr) return;
    }
    if (counts == nullptr || displacements == nullptr) return;
    Room all;
    std::uint64_t data = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
        if (counts[i] <= 0) continue;
        MPI_Datatype const type = type_at(types, i);
        // Several types have displacements in bytes.
        bool const in_bytes = std::is_pointer_v<Types> && !std::is_same_v<Types, MPI_Datatype>;
        auto const unit = in_bytes ? 1 : static_cast<std::int64_t>(sizes_.span_of(1, type));
        auto const begin = static_cast<std::int64_t>(displacements[i]) * unit;
        Room block = span_of(buffer, counts[i], type);
        if (block.span() == 0) continue;
        data += sizes_.bytes(counts[i], type);
        block.begin += begin;
        block.end += begin;
        bool const is_first = all.span() == 0;
        all.begin = is_first ? block.begin : std::min(all.begin, block.begin);
        all.end = is_first ? block.end : std::max(all.end, block.end);
    }
    add(buffer, all, writes, data);
}

}  // namespace sluice::plugin
