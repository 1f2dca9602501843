// SPDX-License-Identifier: BSD-3-Clause
#include "groups/agree.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <string>
#include <string_view>

#include "mpi/mpi.hpp"

namespace sluice::groups {

namespace {

// The text of an error comes in pieces, so that a rank without memory for it takes part all the same.
constexpr std::size_t k_piece_of_text = 512;

/// Without memory the rest of the text is lost.
void append(std::string& text, std::string_view piece) {
    try {
        text.append(piece);
    } catch (std::bad_alloc const&) {
        return;
    }
}

}  // namespace

void agree_on_no_error(MPI_Comm comm, std::optional<Error> const& mine) {
    int const nobody = std::numeric_limits<int>::max();
    int first = mine ? mpi::rank_in(comm) : nobody;
    mpi::check(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
    if (first == nobody) return;

    bool const is_mine = mine && mpi::rank_in(comm) == first;
    std::string_view const mine_text = is_mine ? std::string_view(mine->what()) : std::string_view();
    std::array<int, 2> head{is_mine ? static_cast<int>(mine->code()) : 0, static_cast<int>(mine_text.size())};
    mpi::check(MPI_Bcast(head.data(), 2, MPI_INT, first, comm), "MPI_Bcast");
    std::string text;
    for (std::size_t at = 0, whole = static_cast<std::size_t>(head[1]); at < whole;) {
        std::array<char, k_piece_of_text> piece;
        std::size_t const length = std::min(piece.size(), whole - at);
        if (is_mine) std::ranges::copy(mine_text.substr(at, length), piece.begin());
        mpi::check(MPI_Bcast(piece.data(), static_cast<int>(length), MPI_CHAR, first, comm), "MPI_Bcast");
        at += length;
        append(text, {piece.data(), length});
    }
    if (is_mine) throw Error(*mine);  // which allocates nothing
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
