// SPDX-License-Identifier: BSD-3-Clause
/// Describes the blocks of an in-place all-to-all, with one interface to the arguments of all three calls. Refers to
/// the caller's arrays; constant size.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

namespace sluice::collectives {

/// A number for each rank: the same for all, or an array of 32-bit or 64-bit integers.
class NumberList {
  public:
    NumberList() = default;
    explicit NumberList(std::int64_t same) : same_(same) {}
    explicit NumberList(int const* each) : narrow_(each) {}
    explicit NumberList(std::int64_t const* each) : wide_(each) {}

    std::int64_t at(int rank) const noexcept {
        auto const i = static_cast<std::size_t>(rank);
        return narrow_ != nullptr ? narrow_[i] : wide_ != nullptr ? wide_[i] : same_;
    }

  private:
    std::int64_t same_ = 0;
    int const* narrow_ = nullptr;
    std::int64_t const* wide_ = nullptr;
};

struct InplaceBlocks {
    enum class Layout { in_order, by_extents, by_bytes };

    void* buffer = nullptr;  ///< may be MPI_BOTTOM
    Layout layout = Layout::in_order;
    NumberList counts;
    NumberList displacements;               ///< in extents or bytes; unused if blocks are in order
    MPI_Datatype type = MPI_DATATYPE_NULL;  ///< of all blocks, if `types` is null
    MPI_Datatype const* types = nullptr;

    static InplaceBlocks alltoall(void* buffer, std::int64_t count, MPI_Datatype type) {
        return {buffer, Layout::in_order, NumberList(count), NumberList(), type, nullptr};
    }
    /// `Integer` is int or std::int64_t. If MPI_Count or MPI_Aint is another type of 64 bits, the caller casts.
    template <typename Integer>
    static InplaceBlocks alltoallv(void* buffer, Integer const* counts, Integer const* displacements,
                                   MPI_Datatype type) {
        return {buffer, Layout::by_extents, NumberList(counts), NumberList(displacements), type, nullptr};
    }
    template <typename Count, typename Displacement>
    static InplaceBlocks alltoallw(void* buffer, Count const* counts, Displacement const* displacements,
                                   MPI_Datatype const* types) {
        return {buffer, Layout::by_bytes, NumberList(counts), NumberList(displacements), MPI_DATATYPE_NULL, types};
    }

    MPI_Datatype type_of(int rank) const noexcept {
        return types != nullptr ? types[static_cast<std::size_t>(rank)] : type;
    }
    /// The address of block `rank`, for a type of that extent.
    void* address_of(int rank, std::int64_t extent) const noexcept {
        std::int64_t const offset = layout == Layout::in_order     ? rank * counts.at(rank) * extent
                                    : layout == Layout::by_extents ? displacements.at(rank) * extent
                                                                   : displacements.at(rank);
        return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(buffer) + static_cast<std::uintptr_t>(offset));
    }
};

}  // namespace sluice::collectives
