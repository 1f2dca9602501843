// SPDX-License-Identifier: BSD-3-Clause
/// Bytes of messages, from the arguments of MPI functions. None of these fails: what MPI would refuse counts as 0
/// bytes.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace sluice::plugin {

std::uint64_t bytes(MPI_Count count, MPI_Datatype type) noexcept;
/// Asks for the sizes of the types that MPI itself has, once, so that MPI need not be asked at every message.
void learn_types() noexcept;
/// Sums over `n` peers.
std::uint64_t bytes(int const counts[], MPI_Datatype type, std::uint64_t n) noexcept;
std::uint64_t bytes(MPI_Count const counts[], MPI_Datatype type, std::uint64_t n) noexcept;
std::uint64_t bytes(int const counts[], MPI_Datatype const types[], std::uint64_t n) noexcept;
std::uint64_t bytes(MPI_Count const counts[], MPI_Datatype const types[], std::uint64_t n) noexcept;
/// Of the caller's own entry.
std::uint64_t mine(int const counts[], MPI_Datatype type, MPI_Comm comm) noexcept;
std::uint64_t mine(MPI_Count const counts[], MPI_Datatype type, MPI_Comm comm) noexcept;

/// Ranks that a collective call on `comm` speaks with: of the communicator, or the remote group of an
/// intercommunicator.
std::uint64_t size(MPI_Comm comm) noexcept;
/// `count` for each of them.
inline MPI_Count all_of(MPI_Count count, MPI_Comm comm) noexcept {
    return count * static_cast<MPI_Count>(size(comm));
}
/// Neighbours of a topology.
std::uint64_t sources(MPI_Comm comm) noexcept;
std::uint64_t targets(MPI_Comm comm) noexcept;
/// The caller is the root.
bool root_in(MPI_Comm comm, int root) noexcept;
inline bool placed(void const* buffer) noexcept {
    return buffer == MPI_IN_PLACE;
}

/// Bytes from the first to behind the last that `count` objects of `type` touch.
std::uint64_t span_of(MPI_Count count, MPI_Datatype type) noexcept;

}  // namespace sluice::plugin
