// SPDX-License-Identifier: BSD-3-Clause
#include "groups/agree.hpp"

#include <array>
#include <limits>
#include <string>

#include "mpi/mpi.hpp"

namespace sluice::groups {

void agree_on_no_error(MPI_Comm comm, std::optional<Error> const& mine) {
    int const nobody = std::numeric_limits<int>::max();
    int first = mine ? mpi::rank_in(comm) : nobody;
    mpi::check(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
    if (first == nobody) return;

    std::string text = mine ? mine->what() : "";
    std::array<int, 2> head{mine ? static_cast<int>(mine->code()) : 0, static_cast<int>(text.size())};
    mpi::check(MPI_Bcast(head.data(), 2, MPI_INT, first, comm), "MPI_Bcast");
    text.resize(static_cast<std::size_t>(head[1]));
    mpi::check(MPI_Bcast(text.data(), head[1], MPI_CHAR, first, comm), "MPI_Bcast");
    throw Error(static_cast<ErrorCode>(head[0]), text);
}

namespace {

// MPICH 4.0 compares unsigned numbers of 64 bits as signed ones. With the highest bit turned over, the signed order is
// the unsigned order, so the reduction is right on every MPI.
void reduce_in_order(MPI_Comm comm, std::span<std::uint64_t> values, MPI_Op operation) {
    constexpr std::uint64_t k_highest_bit = std::uint64_t{1} << 63;
    for (std::uint64_t& value : values)
        value ^= k_highest_bit;
    mpi::check(
        MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T, operation, comm),
        "MPI_Allreduce");
    for (std::uint64_t& value : values)
        value ^= k_highest_bit;
}

}  // namespace

void most_of_all(MPI_Comm comm, std::span<std::uint64_t> values) {
    reduce_in_order(comm, values, MPI_MAX);
}
std::uint64_t least_of(MPI_Comm comm, std::uint64_t value) {
    reduce_in_order(comm, {&value, 1}, MPI_MIN);
    return value;
}
std::uint64_t most_of(MPI_Comm comm, std::uint64_t value) {
    reduce_in_order(comm, {&value, 1}, MPI_MAX);
    return value;
}
std::uint64_t sum_of(MPI_Comm comm, std::uint64_t value) {
    mpi::check(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_SUM, comm), "MPI_Allreduce");
    return value;
}
bool all_true(MPI_Comm comm, bool value) {
    return least_of(comm, value ? 1 : 0) == 1;
}

}  // namespace sluice::groups
