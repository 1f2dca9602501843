// SPDX-License-Identifier: BSD-3-Clause
/// Transposes: the layouts that FFTs use, the bound of memory, counted bytes, plans and wrong arguments.
#include "sluice/transpose.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "engine/context_state.hpp"
#include "support/limits/full_budget.hpp"
#include "support/needs_ranks.hpp"
#include "transposes/transpose_bed.hpp"

namespace sluice::tests {
namespace {

class Transposes : public testing::Test {
  protected:
    Transposes() : context_(MPI_COMM_WORLD, Settings{}), rank_(context_.rank()), ranks_(context_.size()) {}

    /// Slabs along axis 0 become slabs along axis 1.
    TransposeCase of_slabs(std::array<std::int64_t, 3> const& extents, std::array<int, 3> const& order = {1, 0, 2},
                           Bytes staging = {2 << 20}) const {
        return {{extents, 16_B}, slabs(0, ranks_), slabs(1, ranks_, order), WireType::as_stored, staging};
    }
    TransposeReport move(TransposeCase const& one, std::byte const* from, std::byte* to) {
        return transpose(context_, one.shape, one.before, one.after, from, to, {one.staging, one.wire});
    }
    void expect_right(TransposeCase const& one) {
        EXPECT_EQ(problem_of_transpose(one, rank_, [&](std::byte const* from, std::byte* to) { move(one, from, to); }),
                  "");
    }
    /// Whether the call fails on this rank with that code.
    std::optional<ErrorCode> code_of(TransposeCase const& one, std::byte const* from, std::byte* to,
                                     std::string const& says) {
        try {
            move(one, from, to);
        } catch (Error const& error) {
            EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
            return error.code();
        }
        return std::nullopt;
    }

    Context context_;
    int rank_;
    int ranks_;
};

TEST_F(Transposes, of_slabs_to_the_order_of_fftw_to_contiguous_and_to_the_same_order) {
    for (std::array<int, 3> const& order : {std::array{1, 0, 2}, std::array{1, 2, 0}, std::array{0, 1, 2}}) {
        expect_right(of_slabs({32, 24, 16}, order));
        expect_right(of_slabs({33, 25, 7}, order));
        expect_right(of_slabs({64, 3, 1}, order, 64_KiB));
    }
}

TEST_F(Transposes, of_pencils_go_from_axis_to_axis) {
    int rows = 1;
    for (int divisor = 1; divisor * divisor <= ranks_; ++divisor)
        if (ranks_ % divisor == 0) rows = divisor;
    int const columns = ranks_ / rows;
    ArrayShape const shape{{20, 17, 23}, 16_B};
    ArrayLayout const x = pencils(0, rows, columns, {2, 1, 0});
    ArrayLayout const y = pencils(1, rows, columns, {2, 0, 1});
    ArrayLayout const z = pencils(2, rows, columns, {0, 1, 2});
    expect_right({shape, x, y});
    expect_right({shape, y, z});
    expect_right({shape, z, y});
    expect_right({shape, y, x, WireType::as_stored, 4_KiB});
}

TEST_F(Transposes, of_a_matrix_whose_rows_exceed_the_staging) {
    expect_right({{{3, 5000, 1}, 8_B}, slabs(0, ranks_), slabs(1, ranks_, {1, 0, 2}), WireType::as_stored, 4_KiB});
    expect_right({{{30, 100, 50}, 8_B}, slabs(0, ranks_), slabs(1, ranks_, {1, 2, 0}), WireType::as_stored, 4_KiB});
}

TEST_F(Transposes, keep_to_their_staging_whatever_the_array) {
    for (Bytes const staging : {64_KiB, 256_KiB, 1_MiB})
        for (bool const in_place : {true, false}) {
            Context context(MPI_COMM_WORLD, Settings{});
            TransposeCase const one = of_slabs({128, 96, 24}, {1, 2, 0}, staging);
            GuardedPart from(std::max(bytes_of_part(one, one.before, rank_), bytes_of_part(one, one.after, rank_)));
            GuardedPart to(bytes_of_part(one, one.after, rank_));
            fill_part(one, one.before, rank_, from.data());
            std::byte* const target = in_place ? from.data() : to.data();
            TransposeReport const report =
                transpose(context, one.shape, one.before, one.after, from.data(), target, {one.staging, one.wire});
            EXPECT_EQ(problem_of_part(one, one.after, rank_, target), "");
            EXPECT_LE(report.staging, staging);
            EXPECT_LE(engine::ContextState::of(context).staging_pool().peak(), staging);
            EXPECT_EQ(report.in_place, in_place);
            std::uint64_t const has = bytes_of_part(one, one.after, rank_);
            EXPECT_EQ(report.received.count + report.kept.count, has);
            EXPECT_EQ(report.sent.count + report.kept.count, bytes_of_part(one, one.before, rank_));
        }
}

TEST_F(Transposes, send_half_the_bytes_if_doubles_travel_as_floats) {
    TransposeCase one = of_slabs({40, 24, 10}, {1, 0, 2});
    one.wire = WireType::float_for_double;
    expect_right(one);
    GuardedPart array(std::max(bytes_of_part(one, one.before, rank_), bytes_of_part(one, one.after, rank_)));
    fill_part(one, one.before, rank_, array.data());
    TransposeReport const report = move(one, array.data(), array.data());
    EXPECT_EQ(2 * report.sent.count + report.kept.count, bytes_of_part(one, one.before, rank_));
    one.shape.element = 12_B;
    EXPECT_EQ(code_of(one, array.data(), array.data(), "12 bytes are not made of doubles"),
              ErrorCode::invalid_argument);
}

TEST_F(Transposes, of_arrays_without_elements_and_of_more_ranks_than_rows) {
    for (std::array<std::int64_t, 3> const& extents :
         {std::array<std::int64_t, 3>{0, 5, 6}, {5, 0, 6}, {5, 6, 0}, {1, 1, 1}, {2, 1, 9}, {1, 20, 3}, {20, 1, 3}})
        expect_right(of_slabs(extents));
}

TEST_F(Transposes, refuse_on_all_ranks_what_cannot_be_done) {
    TransposeCase const good = of_slabs({8, 8, 8});
    GuardedPart array(16 * 8 * 8 * 8);
    auto const expect_refused = [&](TransposeCase const& one, std::string const& says) {
        EXPECT_EQ(code_of(one, array.data(), array.data(), says), ErrorCode::invalid_argument) << says;
    };
    TransposeCase one = good;
    one.after.order = {0, 0, 2};
    expect_refused(one, "does not name each of the axes");
    one = good;
    one.after.grid[2] = 5;
    expect_refused(one, "parts for " + std::to_string(ranks_) + " ranks");
    one = good;
    one.shape.element = 0_B;
    expect_refused(one, "0 bytes");
    one = good;
    one.shape.extents[2] = -1;
    expect_refused(one, "-1 elements");
    one = good;
    one.shape.extents = {std::int64_t{1} << 31, std::int64_t{1} << 31, 8};
    expect_refused(one, "address space");
    one = good;
    one.before.block[0] = 0;
    one.after.block[1] = -2;
    expect_refused(one, "blocks of -2");
    EXPECT_EQ(code_of(good, nullptr, array.data(), "is null"), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of(good, array.data(), array.data() + 8, "overlap"), ErrorCode::invalid_argument);
    expect_right(good);
}

SLUICE_NEEDS_RANKS(2, Transposes, refuse_arguments_that_differ_between_ranks);
TEST_F(Transposes, refuse_arguments_that_differ_between_ranks) {
    TransposeCase one = of_slabs({8, 8, 8});
    GuardedPart array(16 * 8 * 8 * 9);
    if (rank_ == ranks_ - 1) one.shape.extents[2] = 9;
    EXPECT_EQ(code_of(one, array.data(), array.data(), "the transpose differs"), ErrorCode::invalid_argument);
    GuardedPart other(16 * 8 * 8 * 9);
    one = of_slabs({8, 8, 8});
    EXPECT_EQ(code_of(one, array.data(), rank_ == 0 ? array.data() : other.data(), "in place"),
              ErrorCode::invalid_argument);
    EXPECT_EQ(code_of(one, rank_ == 0 ? nullptr : array.data(), other.data(), "rank 0: the array is null"),
              ErrorCode::invalid_argument);
}

SLUICE_NEEDS_RANKS(4, Transposes, refuse_layouts_that_need_two_steps);
TEST_F(Transposes, refuse_layouts_that_need_two_steps) {
    if (ranks_ % 2 != 0) return;
    TransposeCase one = of_slabs({8, 8, 8});
    one.before = pencils(0, 2, ranks_ / 2);
    one.after = pencils(2, 2, ranks_ / 2);
    GuardedPart array(16 * 8 * 8 * 8);
    EXPECT_EQ(code_of(one, array.data(), array.data(), "go in two steps"), ErrorCode::invalid_argument);
}

TEST_F(Transposes, without_memory_on_one_rank_is_one_error_on_all_ranks) {
    TransposeCase const one = of_slabs({16, 16, 16});
    GuardedPart array(std::max(bytes_of_part(one, one.before, rank_), bytes_of_part(one, one.after, rank_)));
    fill_part(one, one.before, rank_, array.data());
    memory::StagingPool& pool = engine::ContextState::of(context_).staging_pool();
    auto const fail = [&](std::uint64_t after) {
        if (rank_ == ranks_ - 1) pool.fail_after(after);
    };
    fail(0);
    std::optional<ErrorCode> const code = code_of(one, array.data(), array.data(), "has no memory");
    EXPECT_EQ(code, ErrorCode::out_of_memory);
    EXPECT_EQ(problem_of_part(one, one.before, rank_, array.data()), "");
    pool.fail_after(~std::uint64_t{0});
    expect_right(one);
}

TEST_F(Transposes, of_a_rank_that_gets_less_staging_are_cut_alike) {
    Context small(MPI_COMM_WORLD, Settings{});
    TransposeCase const one = of_slabs({64, 48, 8});
    memory::StagingPool& pool = engine::ContextState::of(small).staging_pool();
    // A budget that is full leaves the least staging, to one rank.
    std::optional<Lease> all;
    if (rank_ == 0) all = lease_all(small);
    EXPECT_EQ(problem_of_transpose(one, rank_,
                                   [&](std::byte const* from, std::byte* to) {
                                       transpose(small, one.shape, one.before, one.after, from, to);
                                   }),
              "");
    EXPECT_LE(pool.peak(), rank_ == 0 ? 64_KiB : 2_MiB);
}

TEST_F(Transposes, can_be_planned_and_a_plan_outlives_its_context) {
    TransposeCase const one = of_slabs({24, 18, 5}, {1, 2, 0});
    std::optional<Context> context(std::in_place, MPI_COMM_WORLD, Settings{});
    TransposePlan plan(*context, one.shape, one.before, one.after);
    context.reset();
    TransposePlan moved = std::move(plan);
    EXPECT_EQ(problem_of_transpose(one, rank_, [&](std::byte const* from, std::byte* to) { moved.apply(from, to); }),
              "");
    EXPECT_THROW(plan.apply(nullptr), Error);  // NOLINT(bugprone-use-after-move)
    EXPECT_THROW(moved.apply(nullptr), Error);
}

}  // namespace
}  // namespace sluice::tests
