// SPDX-License-Identifier: BSD-3-Clause
/// One rank has no memory for something that an all-to-all allocates: its blocks come all the same.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "sluice/alltoall.hpp"
#include "support/limits/counted_calls.hpp"

namespace sluice::tests {
namespace {

enum class Arguments { count, lists, plan, plan_with_lists };

std::string name_of_arguments(Arguments arguments) {
    switch (arguments) {
        case Arguments::count:
            return "count";
        case Arguments::lists:
            return "lists";
        case Arguments::plan:
            return "plan";
        case Arguments::plan_with_lists:
            break;
    }
    return "plan_with_lists";
}

/// Blocks of pieces with gaps of different sizes between them.
class AlltoallFaults : public testing::TestWithParam<std::tuple<AlltoallAlgorithm, Arguments>> {
  protected:
    static constexpr int k_pieces = 5;   // of each element, of 1, 2, … 5 numbers
    static constexpr int k_extent = 40;  // of an element, in numbers

    AlltoallFaults() : context_(MPI_COMM_WORLD, Settings{}), rank_(context_.rank()), ranks_(context_.size()) {
        int const lengths[k_pieces]{1, 2, 3, 4, 5};
        int const places[k_pieces]{0, 3, 9, 17, 30};
        MPI_Datatype pieces = MPI_DATATYPE_NULL;
        MPI_Type_indexed(k_pieces, lengths, places, MPI_INT, &pieces);
        MPI_Type_create_resized(pieces, 0, k_extent * sizeof(int), &type_);
        MPI_Type_commit(&type_);
        MPI_Type_free(&pieces);
        from_.assign(numbers(), 0);
        for (std::size_t i = 0; i < from_.size(); ++i)
            from_[i] = word(rank_, static_cast<int>(i / block()), i % block());
        counts_.assign(static_cast<std::size_t>(ranks_), elements_);
        for (int other = 0; other < ranks_; ++other)
            places_.push_back(std::int64_t{other} * elements_);
        options_.algorithm = std::get<0>(GetParam());
        make_plan();
    }
    ~AlltoallFaults() override { MPI_Type_free(&type_); }

    static Arguments arguments() { return std::get<1>(GetParam()); }
    bool is_hit() const { return rank_ == ranks_ - 1; }
    void make_plan() {
        if (arguments() == Arguments::plan) plan_.emplace(context_, elements_, type_, elements_, type_, options_);
        if (arguments() == Arguments::plan_with_lists)
            plan_.emplace(context_, counts_, places_, type_, counts_, places_, type_, options_);
    }
    void exchange_blocks() {
        to_.assign(numbers(), -1);
        if (plan_)
            plan_->apply(from_.data(), to_.data());
        else if (arguments() == Arguments::count)
            alltoall(context_, from_.data(), elements_, type_, to_.data(), elements_, type_, options_);
        else
            alltoallv(context_, from_.data(), counts_, places_, type_, to_.data(), counts_, places_, type_, options_);
    }
    /// The first number that is wrong, if one is: gaps stay as they were.
    std::optional<std::size_t> wrong() const {
        bool in_piece[k_extent]{};
        for (int const at : {0, 3, 4, 9, 10, 11, 17, 18, 19, 20, 30, 31, 32, 33, 34})
            in_piece[at] = true;
        for (std::size_t i = 0; i < to_.size(); ++i)
            if (to_[i] != (in_piece[i % k_extent] ? word(static_cast<int>(i / block()), rank_, i % block()) : -1))
                return i;
        return std::nullopt;
    }

    // Of each block: few for log steps, enough to be read for others.
    int elements_ = std::get<0>(GetParam()) == AlltoallAlgorithm::log_step ? 20 : 500;
    Context context_;
    int rank_;
    int ranks_;

  private:
    std::size_t block() const { return static_cast<std::size_t>(elements_) * k_extent; }
    std::size_t numbers() const { return static_cast<std::size_t>(ranks_) * block(); }
    static int word(int from, int to, std::size_t i) { return (from * 16 + to) * 100'000 + static_cast<int>(i); }

    MPI_Datatype type_ = MPI_DATATYPE_NULL;
    std::vector<int> from_;
    std::vector<int> to_;
    std::vector<std::int64_t> counts_;
    std::vector<std::int64_t> places_;
    AlltoallOptions options_;
    std::optional<AlltoallPlan> plan_;
};

TEST_P(AlltoallFaults, of_any_allocation_lose_no_block) {
    exchange_blocks();
    bool was_made = true;
    for (std::uint64_t good = 0; was_made; ++good) {
        ASSERT_LT(good, 200U);
        if (is_hit()) fail_an_allocation(good);
        EXPECT_NO_THROW(exchange_blocks());
        int failed_here = is_hit() && fail_no_allocation() ? 1 : 0;
        EXPECT_EQ(wrong(), std::nullopt);
        MPI_Allreduce(MPI_IN_PLACE, &failed_here, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        was_made = failed_here != 0;
        ASSERT_FALSE(HasFailure()) << "allocation " << good;
    }
    exchange_blocks();
    EXPECT_EQ(wrong(), std::nullopt);
}

TEST_P(AlltoallFaults, of_lists_of_a_plan_are_one_error_on_all_ranks) {
    // The state, the lists of its sides and the list of sizes.
    std::uint64_t const allocations = arguments() == Arguments::plan              ? 2
                                      : arguments() == Arguments::plan_with_lists ? 6
                                                                                  : 0;
    for (std::uint64_t good = 0; good < allocations; ++good) {
        if (is_hit()) fail_an_allocation(good);
        try {
            make_plan();
            ADD_FAILURE() << "a plan was made without allocation " << good;
        } catch (Error const& error) {
            EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
            EXPECT_NE(std::string(error.what()).find("rank " + std::to_string(ranks_ - 1) + ": there is no memory"),
                      std::string::npos)
                << error.what();
        }
        if (is_hit()) {
            EXPECT_TRUE(fail_no_allocation());
        }
    }
    make_plan();
    exchange_blocks();
    EXPECT_EQ(wrong(), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, AlltoallFaults,
                         testing::Combine(testing::Values(AlltoallAlgorithm::plain, AlltoallAlgorithm::log_step,
                                                          AlltoallAlgorithm::window, AlltoallAlgorithm::pull),
                                          testing::Values(Arguments::count, Arguments::lists, Arguments::plan,
                                                          Arguments::plan_with_lists)),
                         [](auto const& tested) {
                             return std::string(name_of(std::get<0>(tested.param))) + "_by_" +
                                    name_of_arguments(std::get<1>(tested.param));
                         });

}  // namespace
}  // namespace sluice::tests
