// SPDX-License-Identifier: BSD-3-Clause
/// What a plan keeps of its arguments: copies of lists and datatypes.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "collectives/alltoall/algorithm.hpp"
#include "collectives/alltoall_call.hpp"
#include "mpi/mpi.hpp"
#include "sluice/error.hpp"

namespace sluice::collectives {

/// A copy of a datatype; the caller may free the original. Predefined ones stay as they are: Open MPI moves large
/// blocks of a copy of MPI_BYTE in 1.2 times the time.
class KeptType {
  public:
    explicit KeptType(MPI_Datatype type) : type_(type) {
        if (type == MPI_DATATYPE_NULL || is_predefined(type)) return;
        mpi::check(MPI_Type_dup(type, &type_), "MPI_Type_dup");
        is_owned_ = true;
    }
    KeptType(KeptType&& other) noexcept : type_(other.type_), is_owned_(std::exchange(other.is_owned_, false)) {}
    KeptType& operator=(KeptType&&) = delete;
    ~KeptType() {
        if (is_owned_ && mpi::is_running()) MPI_Type_free(&type_);
    }
    MPI_Datatype get() const noexcept { return type_; }

  private:
    MPI_Datatype type_;
    bool is_owned_ = false;
};

/// One side of a plan: one count, or a list of counts and displacements.
class KeptSide {
  public:
    KeptSide(std::int64_t count, MPI_Datatype type) : count_(count), type_(type) {}
    KeptSide(std::span<std::int64_t const> counts, std::span<std::int64_t const> places, MPI_Datatype type)
        : counts_(counts.begin(), counts.end()), places_(places.begin(), places.end()), type_(type), is_even_(false) {}

    Blocks at(void* buffer) const {
        return is_even_ ? Blocks::alltoall(buffer, count_, type_.get())
                        : Blocks::alltoallv(buffer, counts_.data(), places_.data(), type_.get());
    }
    bool is_even() const noexcept { return is_even_; }
    /// Returns what is wrong with the lengths of the lists, or nothing.
    std::optional<Error> fault(int rank, int ranks, char const* what) const {
        if (is_even_) return std::nullopt;
        for (std::size_t const length : {counts_.size(), places_.size()})
            if (length != static_cast<std::size_t>(ranks))
                return Error(ErrorCode::invalid_argument, "rank " + std::to_string(rank) + ": a list of " +
                                                              std::to_string(length) + " counts or displacements of " +
                                                              what + " for " + std::to_string(ranks) + " ranks");
        return std::nullopt;
    }

  private:
    std::int64_t count_ = 0;
    std::vector<std::int64_t> counts_;
    std::vector<std::int64_t> places_;
    KeptType type_;
    bool is_even_ = true;
};

}  // namespace sluice::collectives
