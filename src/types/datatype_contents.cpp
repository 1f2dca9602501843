// SPDX-License-Identifier: BSD-3-Clause
#include "types/datatype_contents.hpp"

#include "mpi/mpi.hpp"

namespace sluice::types {

namespace {

/// Predefined types have no contents and must not be freed.
bool is_leaf(int combiner) {
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

}  // namespace

bool is_predefined(MPI_Datatype type) {
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = 0;
    if (MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS) return false;
    return is_leaf(combiner);
}

std::uint64_t size_of_type(MPI_Datatype type) {
    MPI_Count size = 0;
    mpi::check(MPI_Type_size_x(type, &size), "MPI_Type_size_x");
    return size > 0 ? static_cast<std::uint64_t>(size) : 0;
}

DatatypeContents::DatatypeContents(MPI_Datatype type) {
#if MPI_VERSION >= 4
    MPI_Count integers = 0;
    MPI_Count addresses = 0;
    MPI_Count large = 0;
    MPI_Count types = 0;
    mpi::check(MPI_Type_get_envelope_c(type, &integers, &addresses, &large, &types, &combiner_),
               "MPI_Type_get_envelope_c");
#else
    int integers = 0;
    int addresses = 0;
    int types = 0;
    mpi::check(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner_), "MPI_Type_get_envelope");
#endif
    if (is_leaf(combiner_)) return;
    integers_.resize(static_cast<std::size_t>(integers));
    addresses_.resize(static_cast<std::size_t>(addresses));
    types_.resize(static_cast<std::size_t>(types), MPI_DATATYPE_NULL);
#if MPI_VERSION >= 4
    large_.resize(static_cast<std::size_t>(large));
    mpi::check(MPI_Type_get_contents_c(type, integers, addresses, large, types, integers_.data(), addresses_.data(),
                                       large_.data(), types_.data()),
               "MPI_Type_get_contents_c");
#else
    mpi::check(
        MPI_Type_get_contents(type, integers, addresses, types, integers_.data(), addresses_.data(), types_.data()),
        "MPI_Type_get_contents");
#endif
}

DatatypeContents::~DatatypeContents() {
    for (MPI_Datatype& inner : types_)
        if (inner != MPI_DATATYPE_NULL && !is_predefined(inner)) MPI_Type_free(&inner);
}

// For types with large counts, every count and displacement is in one list, in the order of the constructor's
// arguments; only ranks, kinds of distribution and similar values remain among the integers (MPI 4.0, table 5.1).

std::int64_t DatatypeContents::large_integer(std::size_t i) const noexcept {
    if (combiner_ == MPI_COMBINER_SUBARRAY) {  // ndims, sizes, subsizes, starts, order
        std::size_t const lists = large_.size();
        return i == 0 ? integers_[0] : i <= lists ? large_[i - 1] : integers_[1];
    }
    if (combiner_ == MPI_COMBINER_DARRAY) {  // size, rank, ndims, gsizes, distribs, dargs, psizes, order
        std::size_t const dims = large_.size();
        return i < 3 ? integers_[i] : i < 3 + dims ? large_[i - 3] : integers_[i - dims];
    }
    return large_[i];
}

std::int64_t DatatypeContents::large_address(std::size_t i) const noexcept {
    // One number for all blocks takes the place of a list of lengths.
    if (combiner_ == MPI_COMBINER_HVECTOR || combiner_ == MPI_COMBINER_HINDEXED_BLOCK) return large_[2 + i];
    if (combiner_ == MPI_COMBINER_RESIZED) return large_[i];
    return large_[1 + static_cast<std::size_t>(large_[0]) + i];  // count, lengths, displacements
}

}  // namespace sluice::types
