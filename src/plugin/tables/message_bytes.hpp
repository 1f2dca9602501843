// SPDX-License-Identifier: BSD-3-Clause
/// Bytes of messages, from the arguments of one call of the program.
///
/// Before MPI has accepted the arguments only the tables are asked: MPI would tell an error handler of the program of a
/// handle that is wrong. What they do not know counts as 0 bytes, and `left_out` says that there was some. After
/// MPI_SUCCESS `ask_mpi` opens the way to MPI itself, and the call is told its bytes again.
///
///     tables ── all known ──> bytes ──> call                       ──> MPI_SUCCESS
///            ── left out ───> 0 ──────> call ──> MPI_SUCCESS ──> ask_mpi ──> bytes
///
/// None of these fails.
#pragma once

#include <mpi.h>

#include <bit>
#include <cstdint>
#include <optional>

#include "plugin/binding/plugin.hpp"
#include "plugin/tables/communicators.hpp"
#include "plugin/tables/datatypes.hpp"
#include "plugin/tables/open/flights.hpp"

namespace sluice::plugin {

/// Puts MPI's own types into the tables.
void learn_types(Datatypes& types) noexcept;

inline bool placed(void const* buffer) noexcept {
    return buffer == MPI_IN_PLACE;
}
/// A member that is not the root gives or gets something. In the root's group of an intercommunicator none does.
inline bool beside(int root) noexcept {
    return root != MPI_PROC_NULL && root != MPI_ROOT;
}

/// From the first to behind the last byte of a buffer that blocks are received into, from the buffer's begin.
struct Room {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::uint64_t span() const noexcept { return end > begin ? static_cast<std::uint64_t>(end - begin) : 0; }
};

class MessageBytes {
  public:
    MessageBytes(Communicators& communicators, Datatypes& types) noexcept
        : communicators_(&communicators), types_(&types) {}

    /// Something was not known and counted as 0.
    bool left_out() const noexcept { return left_out_; }
    /// MPI has accepted the arguments.
    void ask_mpi() noexcept { may_ask_ = true; }

    std::uint64_t bytes(MPI_Count count, MPI_Datatype type) noexcept {
        if (count <= 0) return 0;
        if (std::uint64_t const size = g_plugin.dense_types.size_of(type); size > 0) [[likely]]
            return static_cast<std::uint64_t>(count) * size;
        return static_cast<std::uint64_t>(count) * size_of(type).size;
    }
    /// Sums over `n` peers without those of the first 64 whose bit is set in `left_out`.
    template <class Count, class Types>
    std::uint64_t bytes(Count const counts[], Types types, std::uint64_t n, std::uint64_t left_out = 0) noexcept;
    /// Sums over the neighbours of a topology that are a rank.
    template <class Count, class Types>
    std::uint64_t bytes_to_targets(Count const counts[], Types types, MPI_Comm comm) noexcept {
        return bytes(counts, types, targets(comm), known_as(comm).no_neighbours);
    }
    template <class Count, class Types>
    std::uint64_t bytes_from_sources(Count const counts[], Types types, MPI_Comm comm) noexcept {
        return bytes(counts, types, sources(comm), known_as(comm).no_neighbours);
    }
    /// Of the caller's own entry.
    template <class Count>
    std::uint64_t mine(Count const counts[], MPI_Datatype type, MPI_Comm comm) noexcept {
        return bytes(my_count(counts, comm), type);
    }
    /// The caller's own entry.
    template <class Count>
    MPI_Count my_count(Count const counts[], MPI_Comm comm) noexcept {
        Known const& known = known_as(comm);
        return counts != nullptr && known.size > 0 ? static_cast<MPI_Count>(counts[known.rank]) : 0;
    }
    /// Bytes from the first to behind the last that `count` objects of `type` touch.
    std::uint64_t span_of(MPI_Count count, MPI_Datatype type) noexcept;
    /// Block i of `n` is at displacements[i], counted in the type's extent; with several types in bytes.
    template <class Count, class Displacement, class Types>
    Room room(Count const counts[], Displacement const displacements[], Types types, std::uint64_t n) noexcept;

    /// Ranks that a collective call on `comm` speaks with: of the communicator, or the remote group of an
    /// intercommunicator.
    std::uint64_t size(MPI_Comm comm) noexcept {
        Known const& known = known_as(comm);
        return static_cast<std::uint64_t>(known.remote > 0 ? known.remote : known.size);
    }
    /// `count` for each of them.
    MPI_Count all_of(MPI_Count count, MPI_Comm comm) noexcept { return each_of(count, size(comm)); }
    static MPI_Count each_of(MPI_Count count, std::uint64_t n) noexcept { return count * static_cast<MPI_Count>(n); }
    Known const& known(MPI_Comm comm) noexcept { return known_as(comm); }
    /// Neighbours of a topology.
    std::uint64_t sources(MPI_Comm comm) noexcept { return static_cast<std::uint64_t>(known_as(comm).sources); }
    std::uint64_t targets(MPI_Comm comm) noexcept { return static_cast<std::uint64_t>(known_as(comm).targets); }
    /// Those that are a rank.
    std::uint64_t real_sources(MPI_Comm comm) noexcept { return real_of(sources(comm), known_as(comm)); }
    std::uint64_t real_targets(MPI_Comm comm) noexcept { return real_of(targets(comm), known_as(comm)); }
    /// Where a message of `count` elements lies, from its buffer's begin. Nothing if that is not known.
    std::optional<FlyingRange> message(void const* buffer, MPI_Count count, MPI_Datatype type) noexcept;
    /// The caller is the root.
    bool root_in(MPI_Comm comm, int root) noexcept {
        if (root == MPI_ROOT) return true;
        Known const& known = known_as(comm);
        return known.size > 0 && known.rank == root;
    }

  private:
    static std::uint64_t real_of(std::uint64_t n, Known const& known) noexcept {
        return n - static_cast<std::uint64_t>(std::popcount(known.no_neighbours));
    }
    TypeSize size_of(MPI_Datatype type) noexcept;
    Known const& known_as(MPI_Comm comm) noexcept;

    Communicators* communicators_;
    Datatypes* types_;
    MPI_Comm comm_{};
    Known known_;  // of comm_
    bool has_known_ = false;
    bool may_ask_ = false;
    bool left_out_ = false;
};

}  // namespace sluice::plugin
