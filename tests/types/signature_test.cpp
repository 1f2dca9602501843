// SPDX-License-Identifier: BSD-3-Clause
/// Hashes of type signatures compared with sequences of basic types that are written out.
#include "types/signature.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <random>
#include <vector>

#include "support/effort.hpp"
#include "support/random_type.hpp"

namespace sluice::types {
namespace {

/// Owns a committed datatype.
struct Made {
    explicit Made(MPI_Datatype made) : type(made) { MPI_Type_commit(&type); }
    Made(Made const&) = delete;
    Made& operator=(Made const&) = delete;
    ~Made() { MPI_Type_free(&type); }
    MPI_Datatype type;
};

MPI_Datatype contiguous(int count, MPI_Datatype inner) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(count, inner, &made);
    return made;
}

MPI_Datatype structure(std::vector<int> const& lengths, std::vector<MPI_Aint> const& places,
                       std::vector<MPI_Datatype> const& inner) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(static_cast<int>(inner.size()), lengths.data(), places.data(), inner.data(), &made);
    return made;
}

Signature written_out(Signatures const& signatures, std::vector<MPI_Datatype> const& sequence) {
    Signature all;
    for (MPI_Datatype const type : sequence)
        all = all.joined(signatures.of(1, type));
    return all;
}

TEST(Signature, is_the_sequence_of_basic_types_however_it_is_made) {
    Signatures const signatures;
    Made const three(contiguous(3, MPI_INT));
    MPI_Datatype vector = MPI_DATATYPE_NULL;
    MPI_Type_vector(2, 3, 7, MPI_INT, &vector);
    Made const spread(vector);
    int const lengths[] = {4, 0, 2};
    int const places[] = {20, 3, 0};
    MPI_Datatype indexed = MPI_DATATYPE_NULL;
    MPI_Type_indexed(3, lengths, places, MPI_INT, &indexed);
    Made const blocks(indexed);
    int const sizes[] = {5, 6};
    int const parts[] = {2, 3};
    int const starts[] = {1, 2};
    MPI_Datatype subarray = MPI_DATATYPE_NULL;
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &subarray);
    Made const part(subarray);
    Signature const six = written_out(signatures, std::vector<MPI_Datatype>(6, MPI_INT));
    EXPECT_EQ(signatures.of(6, MPI_INT), six);
    EXPECT_EQ(signatures.of(2, three.type), six);
    EXPECT_EQ(signatures.of(1, spread.type), six);
    EXPECT_EQ(signatures.of(1, blocks.type), six);
    EXPECT_EQ(signatures.of(1, part.type), six);
    EXPECT_NE(signatures.of(5, MPI_INT), six);
    EXPECT_EQ(six.bytes(), 6 * sizeof(int));
}

TEST(Signature, keeps_the_order_of_a_structure_and_not_its_places) {
    Signatures const signatures;
    Made const forth(structure({2, 1}, {0, 16}, {MPI_INT, MPI_DOUBLE}));
    Made const far(structure({1, 1, 1}, {100, 40, 8}, {MPI_INT, MPI_INT, MPI_DOUBLE}));
    Made const back(structure({1, 2}, {0, 16}, {MPI_DOUBLE, MPI_INT}));
    Signature const two = written_out(signatures, {MPI_INT, MPI_INT, MPI_DOUBLE, MPI_INT, MPI_INT, MPI_DOUBLE});
    EXPECT_EQ(signatures.of(2, forth.type), two);
    EXPECT_EQ(signatures.of(2, far.type), two);
    EXPECT_NE(signatures.of(2, back.type), two);
    EXPECT_EQ(signatures.of(2, back.type).bytes(), two.bytes());
}

TEST(Signature, of_a_pair_of_value_and_index_is_that_of_its_two_parts) {
    Signatures const signatures;
    EXPECT_EQ(signatures.of(3, MPI_DOUBLE_INT),
              written_out(signatures, {MPI_DOUBLE, MPI_INT, MPI_DOUBLE, MPI_INT, MPI_DOUBLE, MPI_INT}));
    EXPECT_EQ(signatures.of(2, MPI_2INT), signatures.of(4, MPI_INT));
    EXPECT_NE(signatures.of(1, MPI_SHORT_INT), signatures.of(1, MPI_LONG_INT));
}

TEST(Signature, tells_basic_types_of_one_size_apart) {
    Signatures const signatures;
    EXPECT_NE(signatures.of(1, MPI_INT), signatures.of(1, MPI_FLOAT));
    EXPECT_NE(signatures.of(1, MPI_LONG), signatures.of(1, MPI_DOUBLE));
    EXPECT_NE(signatures.of(4, MPI_BYTE), signatures.of(1, MPI_INT));
    EXPECT_NE(signatures.of(1, MPI_BYTE), signatures.of(1, MPI_CHAR));
}

TEST(Signature, of_nothing_is_the_same_for_all_types) {
    Signatures const signatures;
    Made const empty(contiguous(0, MPI_DOUBLE));
    EXPECT_EQ(signatures.of(0, MPI_INT), Signature());
    EXPECT_EQ(signatures.of(7, empty.type), Signature());
}

TEST(Signature, of_large_counts_does_not_take_longer) {
    Signatures const signatures;
    std::uint64_t const many = std::uint64_t{1} << 40;
    Made const pair(structure({1, 1}, {0, 8}, {MPI_INT, MPI_DOUBLE}));
    Signature const half = signatures.of(many, pair.type);
    EXPECT_EQ(signatures.of(2 * many, pair.type), half.joined(half));
    EXPECT_EQ(signatures.of(many + 1, pair.type), half.joined(signatures.of(1, pair.type)));
    EXPECT_NE(signatures.of(many + 1, pair.type), half);
}

TEST(Signature, of_random_types_follows_their_constructors) {
    Signatures const signatures;
    int const cases = tests::effort(500);
    for (int seed = 0; seed < cases && !HasFailure(); ++seed) {
        std::mt19937_64 random(static_cast<std::uint64_t>(seed));
        tests::DrawnType const first = tests::draw_type(random, 1 + seed % 3);
        tests::DrawnType const second = tests::draw_type(random, 1 + seed % 3);
        SCOPED_TRACE("seed " + std::to_string(seed) + ": " + first.text() + " and " + second.text());
        Made const both(structure({2, 3}, {0, 1 << 20}, {first.get(), second.get()}));
        Signature const one = signatures.of(2, first.get()).joined(signatures.of(3, second.get()));
        ASSERT_EQ(signatures.of(1, both.type), one);
        Made const five(contiguous(5, both.type));
        ASSERT_EQ(signatures.of(2, five.type), one.repeated(10));
        ASSERT_EQ(one.bytes(), static_cast<std::uint64_t>(2 * first.size() + 3 * second.size()));
    }
}

TEST(SignatureWord, compares_packed_data_by_their_bytes) {
    Signatures const signatures;
    SignatureWord const integers(signatures.of(6, MPI_INT));
    SignatureWord const packed(signatures.of(24, MPI_PACKED));
    EXPECT_TRUE(packed.matches(integers));
    EXPECT_TRUE(integers.matches(packed));
    EXPECT_FALSE(SignatureWord(signatures.of(23, MPI_PACKED)).matches(integers));
    EXPECT_FALSE(SignatureWord(signatures.of(24, MPI_BYTE)).matches(integers));
    EXPECT_EQ(packed.stricter(integers).bits(), integers.bits());
    EXPECT_EQ(integers.stricter(packed).bits(), integers.bits());
}

TEST(SignatureWord, that_is_unknown_matches_all) {
    Signatures const signatures;
    SignatureWord const integers(signatures.of(6, MPI_INT));
    EXPECT_TRUE(SignatureWord().matches(integers));
    EXPECT_EQ(SignatureWord().stricter(integers).bits(), integers.bits());
    EXPECT_TRUE(SignatureWord::of_bits(SignatureWord().bits()).matches(integers));
}

TEST(SignatureWord, of_a_list_tells_where_its_parts_end) {
    Signatures const signatures;
    auto const word_of = [&](std::uint64_t first, std::uint64_t second) {
        std::array const words{SignatureWord(signatures.of(first, MPI_INT)),
                               SignatureWord(signatures.of(second, MPI_INT))};
        return SignatureWord::of_list(2, [&](int i) { return words[static_cast<std::size_t>(i)]; });
    };
    EXPECT_TRUE(word_of(1, 2).matches(word_of(1, 2)));
    EXPECT_FALSE(word_of(1, 2).matches(word_of(2, 1)));
    EXPECT_FALSE(word_of(0, 3).matches(word_of(3, 0)));
}

}  // namespace
}  // namespace sluice::types
