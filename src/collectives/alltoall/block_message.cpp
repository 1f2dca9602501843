// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/alltoall/block_message.hpp"

#include <limits>

#include "mpi/mpi.hpp"

namespace sluice::collectives {

namespace {

constexpr std::int64_t k_most_at_once = std::numeric_limits<int>::max();

/// A count and a type for MPI: as they are, or one element of a type that has all of them.
class CountedType {
  public:
    CountedType(std::int64_t count, MPI_Datatype type) : type_(type) {
        if (count > k_most_at_once)
            make_wide(count);
        else
            count_ = static_cast<int>(count);
    }
    CountedType(CountedType const&) = delete;
    CountedType& operator=(CountedType const&) = delete;
    /// MPI keeps what messages under way need of a type.
    ~CountedType() {
        if (made_ != MPI_DATATYPE_NULL) MPI_Type_free(&made_);
    }
    int count() const noexcept { return count_; }
    MPI_Datatype type() const noexcept { return type_; }

  private:
    /// Groups of 2^20 elements, and the rest.
    void make_wide(std::int64_t count) {
        constexpr int k_group = 1 << 20;
        MPI_Aint low = 0;
        MPI_Aint extent = 0;
        mpi::check(MPI_Type_get_extent(type_, &low, &extent), "MPI_Type_get_extent");
        MPI_Datatype group = MPI_DATATYPE_NULL;
        mpi::check(MPI_Type_contiguous(k_group, type_, &group), "MPI_Type_contiguous");
        std::int64_t const groups = count / k_group;
        int lengths[2] = {static_cast<int>(groups), static_cast<int>(count % k_group)};
        MPI_Aint places[2] = {0, groups * k_group * extent};
        MPI_Datatype types[2] = {group, type_};
        int const code = MPI_Type_create_struct(2, lengths, places, types, &made_);
        MPI_Type_free(&group);
        mpi::check(code, "MPI_Type_create_struct");
        mpi::check(MPI_Type_commit(&made_), "MPI_Type_commit");
        type_ = made_;
        count_ = 1;
    }

    int count_ = 0;
    MPI_Datatype type_;
    MPI_Datatype made_ = MPI_DATATYPE_NULL;
};

}  // namespace

void send_block(Problem const& problem, int member, int tag, MPI_Request& request) {
    CountedType const block(problem.from.counts.at(member), problem.from.type);
    mpi::check(MPI_Isend(problem.from.address_of(member, problem.from_extent), block.count(), block.type(), member, tag,
                         problem.comm, &request),
               "MPI_Isend");
}

void receive_block(Problem const& problem, int member, int tag, MPI_Request& request) {
    CountedType const block(problem.to.counts.at(member), problem.to.type);
    mpi::check(MPI_Irecv(problem.to.address_of(member, problem.to_extent), block.count(), block.type(), member, tag,
                         problem.comm, &request),
               "MPI_Irecv");
}

}  // namespace sluice::collectives
