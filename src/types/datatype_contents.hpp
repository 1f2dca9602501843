// SPDX-License-Identifier: BSD-3-Clause
/// How a datatype was made, as MPI reports it, with 64-bit numbers for every form of the constructor.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace sluice::types {

/// Whether the type is predefined: it then has no contents and must not be freed.
bool is_predefined(MPI_Datatype type);

/// Bytes of data in one element; 0 if MPI cannot tell them (MPI_UNDEFINED).
std::uint64_t size_of_type(MPI_Datatype type);

/// Integers, addresses and datatypes in the order of MPI-3's MPI_Type_get_contents, also for a type made with large
/// counts (MPI-4). Owns the references to the inner datatypes that MPI returns. Takes 12 bytes for each entry of an
/// indexed or struct type, because MPI returns its lists only as a whole.
class DatatypeContents {
  public:
    explicit DatatypeContents(MPI_Datatype type);
    DatatypeContents(DatatypeContents const&) = delete;
    DatatypeContents& operator=(DatatypeContents const&) = delete;
    ~DatatypeContents();

    int combiner() const noexcept { return combiner_; }
    std::int64_t integer(std::size_t i) const noexcept { return large_.empty() ? integers_[i] : large_integer(i); }
    std::int64_t address(std::size_t i) const noexcept { return large_.empty() ? addresses_[i] : large_address(i); }
    MPI_Datatype type(std::size_t i) const noexcept { return types_[i]; }

  private:
    std::int64_t large_integer(std::size_t i) const noexcept;
    std::int64_t large_address(std::size_t i) const noexcept;

    int combiner_ = 0;
    std::vector<int> integers_;
    std::vector<MPI_Aint> addresses_;
    std::vector<MPI_Count> large_;
    std::vector<MPI_Datatype> types_;
};

}  // namespace sluice::types
