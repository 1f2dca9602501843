// SPDX-License-Identifier: BSD-3-Clause
/// The pieces of a datatype compared with MPI_Pack and MPI_Unpack of the MPI library.
#include "types/datatype_pieces.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <random>
#include <vector>

#include "support/effort.hpp"
#include "support/random_type.hpp"

namespace sluice::engine {
namespace {

using tests::DrawnType;
using tests::TypedBlock;

std::vector<std::byte> packed_by_mpi(void const* buffer, int count, MPI_Datatype type) {
    int most = 0;
    MPI_Pack_size(count, type, MPI_COMM_WORLD, &most);
    std::vector<std::byte> packed(static_cast<std::size_t>(most) + 1);
    int position = 0;
    MPI_Pack(buffer, count, type, packed.data(), most, &position, MPI_COMM_WORLD);
    packed.resize(static_cast<std::size_t>(position));
    return packed;
}

/// Packs in pieces of at most a random length.
std::vector<std::byte> packed_by_us(types::PieceCursor& cursor, std::mt19937_64& random) {
    std::vector<std::byte> packed;
    for (;;) {
        types::Piece const piece = cursor.next(1 + random() % 40);
        if (piece.bytes == 0) return packed;
        packed.insert(packed.end(), piece.address, piece.address + piece.bytes);
    }
}

void skip(types::PieceCursor& cursor, std::uint64_t bytes) {
    for (std::size_t skipped = 1; bytes > 0 && skipped > 0; bytes -= skipped)
        skipped = cursor.next(bytes).bytes;
}

std::size_t pieces_of(types::TypeMap const& map, void const* buffer, std::uint64_t count) {
    types::PieceCursor cursor(map, buffer, count);
    std::size_t pieces = 0;
    while (cursor.next(1U << 30).bytes != 0)
        ++pieces;
    return pieces;
}

TEST(DatatypePieces, of_random_types_are_what_mpi_packs_and_unpacks) {
    int const cases = tests::effort(2000);
    for (int seed = 0; seed < cases && !HasFailure(); ++seed) {
        std::mt19937_64 random(static_cast<std::uint64_t>(seed));
        DrawnType const type = tests::draw_type(random, 1 + seed % 4);
        int const count = static_cast<int>(random() % 4);
        SCOPED_TRACE("seed " + std::to_string(seed) + ": " + std::to_string(count) + " x " + type.text());
        TypedBlock block(type, count);
        block.fill(random());
        types::TypeMap const map(type.get());
        types::PieceCursor cursor(map, block.buffer(), static_cast<std::uint64_t>(count));

        std::vector<std::byte> const expected = packed_by_mpi(block.buffer(), count, type.get());
        ASSERT_EQ(cursor.size(), expected.size());
        ASSERT_EQ(packed_by_us(cursor, random), expected);

        std::size_t const from = random() % (expected.size() + 1);
        types::PieceCursor rest(map, block.buffer(), static_cast<std::uint64_t>(count));
        skip(rest, from);
        ASSERT_EQ(packed_by_us(rest, random),
                  std::vector<std::byte>(expected.begin() + static_cast<long>(from), expected.end()))
            << "from byte " << from;

        TypedBlock theirs(type, count);
        TypedBlock ours(type, count);
        int position = 0;
        MPI_Unpack(expected.data(), static_cast<int>(expected.size()), &position, theirs.buffer(), count, type.get(),
                   MPI_COMM_WORLD);
        types::PieceCursor target(map, ours.buffer(), static_cast<std::uint64_t>(count));
        types::unpack(expected, target);
        ASSERT_EQ(ours.bytes(), theirs.bytes()) << "unpacked, gaps included";
        if (cursor.is_contiguous() && cursor.size() > 0) {
            ASSERT_EQ(pieces_of(map, block.buffer(), static_cast<std::uint64_t>(count)), 1U);
        }
    }
}

TEST(DatatypePieces, dense_types_are_one_piece_whatever_they_are_called) {
    MPI_Datatype vector = MPI_DATATYPE_NULL;
    MPI_Datatype repeated = MPI_DATATYPE_NULL;
    MPI_Type_vector(100, 4, 4, MPI_INT, &vector);
    MPI_Type_contiguous(1000, vector, &repeated);
    std::vector<int> memory(2 * 400'000);
    types::TypeMap const map(repeated);
    EXPECT_EQ(map.memory(), 0U);
    types::PieceCursor cursor(map, memory.data(), 2);
    EXPECT_TRUE(cursor.is_contiguous());
    types::Piece const piece = cursor.next(1U << 30);
    EXPECT_EQ(piece.address, reinterpret_cast<std::byte*>(memory.data()));
    EXPECT_EQ(piece.bytes, memory.size() * sizeof(int));
    MPI_Type_free(&vector);
    MPI_Type_free(&repeated);
}

TEST(DatatypePieces, in_another_order_than_memory_are_not_contiguous) {
    int const lengths[] = {1, 1};
    int const places[] = {1, 0};
    MPI_Datatype swapped = MPI_DATATYPE_NULL;
    MPI_Type_indexed(2, lengths, places, MPI_INT, &swapped);
    int numbers[] = {1, 2};
    types::TypeMap const map(swapped);
    types::PieceCursor cursor(map, numbers, 1);
    EXPECT_FALSE(cursor.is_contiguous());
    int packed[2] = {};
    types::pack(cursor, std::as_writable_bytes(std::span(packed)));
    EXPECT_EQ(packed[0], 2);
    EXPECT_EQ(packed[1], 1);
    MPI_Type_free(&swapped);
}

TEST(DatatypePieces, that_interleave_from_element_to_element_keep_their_order) {
    // Columns of a 3 x 4 matrix, one element wide: each begins one double after the one before.
    MPI_Datatype column = MPI_DATATYPE_NULL;
    MPI_Datatype columns = MPI_DATATYPE_NULL;
    MPI_Type_vector(3, 1, 4, MPI_DOUBLE, &column);
    MPI_Type_create_resized(column, 0, sizeof(double), &columns);
    MPI_Type_commit(&columns);
    double matrix[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    types::TypeMap const map(columns);
    types::PieceCursor cursor(map, matrix, 4);
    std::vector<std::byte> packed(cursor.size());
    types::pack(cursor, packed);
    EXPECT_EQ(packed, packed_by_mpi(matrix, 4, columns));
    MPI_Type_free(&column);
    MPI_Type_free(&columns);
}

TEST(DatatypePieces, of_absolute_addresses_need_no_buffer) {
    struct Far {
        int first;
        int between;
        double second;
    } far{};
    MPI_Aint places[2] = {};
    MPI_Get_address(&far.first, &places[0]);
    MPI_Get_address(&far.second, &places[1]);
    int const lengths[] = {1, 1};
    MPI_Datatype const types[] = {MPI_INT, MPI_DOUBLE};
    MPI_Datatype both = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(2, lengths, places, types, &both);
    types::TypeMap const map(both);
    types::PieceCursor cursor(map, MPI_BOTTOM, 1);
    EXPECT_EQ(cursor.next(100).address, reinterpret_cast<std::byte*>(&far.first));
    EXPECT_EQ(cursor.next(100).address, reinterpret_cast<std::byte*>(&far.second));
    EXPECT_EQ(cursor.next(100).bytes, 0U);
    MPI_Type_free(&both);
}

// Open MPI returns a copy at each use, and writes all of them out itself.
#ifndef OPEN_MPI
TEST(DatatypePieces, of_a_type_that_contains_one_twice_at_each_level_cost_memory_by_level) {
    constexpr int k_levels = 24;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_vector(2, 1, 3, MPI_CHAR, &type);
    for (int level = 0; level < k_levels; ++level) {
        MPI_Aint extent = 0;
        MPI_Aint low = 0;
        MPI_Type_get_extent(type, &low, &extent);
        int const lengths[] = {1, 1};
        MPI_Aint const places[] = {0, extent + 5};
        MPI_Datatype const types[] = {type, type};
        MPI_Datatype twice = MPI_DATATYPE_NULL;
        MPI_Type_create_struct(2, lengths, places, types, &twice);
        MPI_Type_free(&type);
        type = twice;
    }
    types::TypeMap const map(type);
    EXPECT_EQ(map.size(), std::uint64_t{2} << k_levels);
    EXPECT_LE(map.memory(), 16384U);
    MPI_Type_free(&type);
}
#endif

TEST(DatatypePieces, beyond_two_gibibytes_are_counted_in_64_bits) {
    MPI_Datatype half = MPI_DATATYPE_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(1 << 30, MPI_DOUBLE, &half);
    MPI_Type_create_hvector(3, 1, MPI_Aint{1} << 40, half, &type);
    types::TypeMap const map(type);
    types::PieceCursor cursor(map, nullptr, 1);
    EXPECT_EQ(cursor.size(), std::uint64_t{3} << 33);
    skip(cursor, (std::uint64_t{1} << 33) + 5);
    types::Piece const piece = cursor.next(100);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece.address), (std::uintptr_t{1} << 40) + 5);
    MPI_Type_free(&half);
    MPI_Type_free(&type);
}

}  // namespace
}  // namespace sluice::engine
