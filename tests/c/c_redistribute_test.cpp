// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "sluice/sluice.h"

namespace {

constexpr int k_count = 50;
constexpr std::uint64_t k_guard = 0xdeadbeefcafef00d;

/// Each rank holds k_count numbers between two guards; number i of rank r is 1000 r + i. All numbers go to the next
/// rank, in reverse.
class CInterface : public testing::Test {
  protected:
    CInterface() {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
        EXPECT_EQ(sluice_context_create(MPI_COMM_WORLD, nullptr, &context_), SLUICE_SUCCESS) << sluice_last_error();
        blocks_ = numbers(0);
        for (int i = 0; i < k_count; ++i) {
            ranks_.push_back((rank_ + 1) % size_);
            indices_.push_back(k_count - 1 - i);
        }
    }
    ~CInterface() override { EXPECT_EQ(sluice_context_free(&context_), SLUICE_SUCCESS) << sluice_last_error(); }

    std::vector<std::uint64_t> numbers(int offset) const {
        std::vector<std::uint64_t> guarded{k_guard};
        for (int i = 0; i < k_count; ++i)
            guarded.push_back(static_cast<std::uint64_t>(offset + 1000 * rank_ + i));
        guarded.push_back(k_guard);
        return guarded;
    }
    std::vector<std::uint64_t> numbers_moved(int offset) const {
        std::vector<std::uint64_t> guarded{k_guard};
        int const from = (rank_ + size_ - 1) % size_;
        for (int i = 0; i < k_count; ++i)
            guarded.push_back(static_cast<std::uint64_t>(offset + 1000 * from + k_count - 1 - i));
        guarded.push_back(k_guard);
        return guarded;
    }
    static std::uint64_t figure(sluice_report const* report, char const* name) {
        std::uint64_t value = 0;
        EXPECT_EQ(sluice_report_get(report, name, &value), SLUICE_SUCCESS) << sluice_last_error();
        return value;
    }
    /// The sum of the figures whose names begin with "step.".
    static double seconds_of_steps(sluice_report const* report) {
        double sum = 0;
        for (std::size_t which = 0; which < sluice_report_size(report); ++which) {
            std::string const name = sluice_report_name(report, which);
            if (!name.starts_with("step.")) continue;
            EXPECT_EQ(sluice_report_unit(report, which), SLUICE_UNIT_SECONDS);
            double seconds = 0;
            EXPECT_EQ(sluice_report_get_seconds(report, name.c_str(), &seconds), SLUICE_SUCCESS);
            sum += seconds;
        }
        return sum;
    }
    int redistribute(sluice_options const* options = nullptr, sluice_report* report = nullptr) {
        return sluice_redistribute(context_, blocks_.data() + 1, k_count, 8, ranks_.size(), ranks_.data(),
                                   indices_.data(), options, report);
    }
    /// Expects the same code on every rank, a text that contains `part`, and no moved number.
    void expect_refused(int code, int expected, std::string const& part) const {
        EXPECT_EQ(code, expected);
        EXPECT_NE(std::string(sluice_last_error()).find(part), std::string::npos) << sluice_last_error();
        EXPECT_EQ(blocks_, numbers(0));
    }

    int rank_ = 0;
    int size_ = 0;
    sluice_context* context_ = nullptr;
    std::vector<std::uint64_t> blocks_;
    std::vector<int> ranks_;
    std::vector<std::int64_t> indices_;
};

TEST_F(CInterface, moves_blocks_by_two_arrays) {
    ASSERT_EQ(redistribute(), SLUICE_SUCCESS) << sluice_last_error();
    EXPECT_EQ(blocks_, numbers_moved(0));
}

TEST_F(CInterface, blocks_past_the_list_and_of_negative_rank_are_free) {
    ranks_.resize(20);
    indices_.resize(20);
    ranks_[3] = -7;
    ASSERT_EQ(redistribute(), SLUICE_SUCCESS) << sluice_last_error();
    for (int i = 0; i < 20; ++i) {
        if (i != 3) {
            EXPECT_EQ(blocks_[static_cast<std::size_t>(k_count - i)],
                      static_cast<std::uint64_t>(1000 * ((rank_ + size_ - 1) % size_) + i));
        }
    }
    EXPECT_EQ(blocks_.front(), k_guard);
    EXPECT_EQ(blocks_.back(), k_guard);
}

struct Computation {
    int rank, size;
    std::uint64_t calls;
};

extern "C" void next_rank_in_reverse(void* user, uint64_t index, void const* block, int* rank, int64_t* destination) {
    Computation& computation = *static_cast<Computation*>(user);
    std::uint64_t number = 0;
    std::memcpy(&number, block, sizeof number);
    ++computation.calls;
    *rank = number == static_cast<std::uint64_t>(1000 * computation.rank) + index
                ? (computation.rank + 1) % computation.size
                : computation.size;  // out of range: these are not the bytes of that block
    *destination = static_cast<int64_t>(k_count - 1 - index);
}

TEST_F(CInterface, moves_blocks_by_a_computed_map) {
    Computation computation{rank_, size_, 0};
    ASSERT_EQ(sluice_redistribute_computed(context_, blocks_.data() + 1, k_count, 8, next_rank_in_reverse, &computation,
                                           nullptr, nullptr),
              SLUICE_SUCCESS)
        << sluice_last_error();
    EXPECT_EQ(blocks_, numbers_moved(0));
    EXPECT_GE(computation.calls, static_cast<std::uint64_t>(k_count));
}

TEST_F(CInterface, a_plan_moves_several_arrays_and_may_be_used_again) {
    sluice_plan* plan = nullptr;
    ASSERT_EQ(sluice_plan_create(context_, k_count, ranks_.size(), ranks_.data(), indices_.data(), nullptr, &plan),
              SLUICE_SUCCESS)
        << sluice_last_error();
    EXPECT_GT(sluice_plan_memory(plan), 0u);
    ranks_.assign(ranks_.size(), 12345);  // a plan keeps no reference to the lists
    for (int offset : {0, 500}) {
        std::vector<std::uint64_t> first = numbers(offset);
        std::vector<std::uint64_t> second = numbers(offset + 7);
        std::vector<std::uint16_t> small(k_count, static_cast<std::uint16_t>(rank_));
        sluice_blocks const arrays[] = {
            {first.data() + 1, k_count, 8}, {small.data(), k_count, 2}, {second.data() + 1, k_count, 8}};
        ASSERT_EQ(sluice_plan_apply(plan, 3, arrays, nullptr), SLUICE_SUCCESS) << sluice_last_error();
        EXPECT_EQ(first, numbers_moved(offset));
        EXPECT_EQ(second, numbers_moved(offset + 7));
        EXPECT_EQ(small, std::vector<std::uint16_t>(k_count, static_cast<std::uint16_t>((rank_ + size_ - 1) % size_)));
    }
    EXPECT_EQ(sluice_plan_free(&plan), SLUICE_SUCCESS);
    EXPECT_EQ(plan, nullptr);
}

extern "C" void next_rank_in_reverse_by_index(void* user, uint64_t index, void const* block, int* rank,
                                              int64_t* destination) {
    Computation& computation = *static_cast<Computation*>(user);
    ++computation.calls;
    EXPECT_EQ(block, nullptr);
    *rank = (computation.rank + 1) % computation.size;
    *destination = static_cast<int64_t>(k_count - 1 - index);
}

TEST_F(CInterface, a_plan_may_be_computed_by_a_function) {
    Computation computation{rank_, size_, 0};
    sluice_plan* plan = nullptr;
    ASSERT_EQ(
        sluice_plan_create_computed(context_, k_count, next_rank_in_reverse_by_index, &computation, nullptr, &plan),
        SLUICE_SUCCESS)
        << sluice_last_error();
    std::uint64_t const calls = computation.calls;
    EXPECT_GE(calls, static_cast<std::uint64_t>(k_count));
    for (int offset : {0, 500}) {
        std::vector<std::uint64_t> moved = numbers(offset);
        sluice_blocks const array{moved.data() + 1, k_count, 8};
        ASSERT_EQ(sluice_plan_apply(plan, 1, &array, nullptr), SLUICE_SUCCESS) << sluice_last_error();
        EXPECT_EQ(moved, numbers_moved(offset));
    }
    EXPECT_EQ(computation.calls, calls);  // the plan keeps the map, not the function
    EXPECT_EQ(sluice_plan_free(&plan), SLUICE_SUCCESS);
}

TEST_F(CInterface, a_computed_plan_is_refused_everywhere_if_one_rank_has_no_function) {
    Computation computation{rank_, size_, 0};
    sluice_plan* plan = nullptr;
    expect_refused(
        sluice_plan_create_computed(context_, k_count, rank_ == size_ - 1 ? nullptr : next_rank_in_reverse_by_index,
                                    &computation, nullptr, &plan),
        SLUICE_INVALID_ARGUMENT, "the destination function is NULL");
    EXPECT_EQ(plan, nullptr);
    computation.size = size_ + 1;  // the last rank sends its blocks to a rank that does not exist
    expect_refused(
        sluice_plan_create_computed(context_, k_count, next_rank_in_reverse_by_index, &computation, nullptr, &plan),
        SLUICE_INVALID_ARGUMENT, "rank " + std::to_string(size_ - 1));
    EXPECT_EQ(plan, nullptr);
}

TEST_F(CInterface, options_override_the_strategy_and_the_report_says_so) {
    sluice_options* options = nullptr;
    sluice_report* report = nullptr;
    ASSERT_EQ(sluice_options_create(&options), SLUICE_SUCCESS);
    ASSERT_EQ(sluice_report_create(&report), SLUICE_SUCCESS);
    for (char const* const strategy : {"parking", "token", "alltoallv"}) {
        blocks_ = numbers(0);
        ASSERT_EQ(sluice_options_set(options, "strategy", strategy), SLUICE_SUCCESS) << sluice_last_error();
        ASSERT_EQ(sluice_options_set(options, "staging", "64KiB"), SLUICE_SUCCESS) << sluice_last_error();
        ASSERT_EQ(redistribute(options, report), SLUICE_SUCCESS) << sluice_last_error();
        EXPECT_EQ(blocks_, numbers_moved(0));
        char const* used = nullptr;
        ASSERT_EQ(sluice_report_get_text(report, "strategy", &used), SLUICE_SUCCESS) << sluice_last_error();
        EXPECT_STREQ(used, strategy);
        EXPECT_EQ(figure(report, "blocks_sent"), size_ == 1 ? 0u : static_cast<std::uint64_t>(k_count));
        EXPECT_EQ(figure(report, "bytes_received"), size_ == 1 ? 0u : 8u * k_count);
        EXPECT_GT(figure(report, "extra_peak"), 0u);
        EXPECT_NE(std::string(sluice_report_text(report)).find(strategy), std::string::npos);
        double all_steps = 0;
        ASSERT_EQ(sluice_report_get_seconds(report, "seconds", &all_steps), SLUICE_SUCCESS) << sluice_last_error();
        EXPECT_DOUBLE_EQ(seconds_of_steps(report), all_steps);
    }
    EXPECT_EQ(sluice_report_free(&report), SLUICE_SUCCESS);
    EXPECT_EQ(sluice_options_free(&options), SLUICE_SUCCESS);
}

TEST_F(CInterface, a_call_refuses_options_that_belong_to_the_context) {
    sluice_options* options = nullptr;
    ASSERT_EQ(sluice_options_create(&options), SLUICE_SUCCESS);
    ASSERT_EQ(sluice_options_set(options, "transport", "message"), SLUICE_SUCCESS) << sluice_last_error();
    expect_refused(redistribute(rank_ == size_ - 1 ? options : nullptr), SLUICE_INVALID_ARGUMENT,
                   "setting 'transport' belongs to the context");
    EXPECT_EQ(sluice_options_free(&options), SLUICE_SUCCESS);
}

TEST_F(CInterface, what_is_wrong_on_one_rank_is_an_error_on_all) {
    bool const last = rank_ == size_ - 1;
    std::string const who = "rank " + std::to_string(size_ - 1);
    expect_refused(sluice_redistribute(context_, blocks_.data() + 1, k_count, 8, k_count,
                                       last ? nullptr : ranks_.data(), indices_.data(), nullptr, nullptr),
                   SLUICE_INVALID_ARGUMENT, "ranks is NULL");
    expect_refused(sluice_redistribute(context_, blocks_.data() + 1, k_count, 8, k_count, ranks_.data(),
                                       last ? nullptr : indices_.data(), nullptr, nullptr),
                   SLUICE_INVALID_ARGUMENT, "indices is NULL");
    expect_refused(sluice_redistribute(context_, blocks_.data() + 1, last ? k_count - 1 : k_count, 8, k_count,
                                       ranks_.data(), indices_.data(), nullptr, nullptr),
                   SLUICE_INVALID_ARGUMENT, "50 destinations were given for an array of 49");
    expect_refused(sluice_redistribute(context_, last ? nullptr : blocks_.data() + 1, k_count, 8, k_count,
                                       ranks_.data(), indices_.data(), nullptr, nullptr),
                   SLUICE_INVALID_ARGUMENT, who);
    expect_refused(sluice_redistribute_computed(context_, blocks_.data() + 1, k_count, 8,
                                                last ? nullptr : next_rank_in_reverse, nullptr, nullptr, nullptr),
                   SLUICE_INVALID_ARGUMENT, "NULL");
    if (last) ranks_[17] = size_;
    expect_refused(redistribute(), SLUICE_INVALID_ARGUMENT, who);
    if (last) ranks_[17] = 0;
    if (last) indices_[17] = k_count;
    expect_refused(redistribute(), SLUICE_INVALID_ARGUMENT, who);
}

TEST_F(CInterface, a_plan_refuses_arrays_of_another_size_and_stays_usable) {
    sluice_plan* plan = nullptr;
    ASSERT_EQ(sluice_plan_create(context_, k_count, ranks_.size(), ranks_.data(), indices_.data(), nullptr, &plan),
              SLUICE_SUCCESS);
    sluice_blocks array{blocks_.data() + 1, k_count - (rank_ == 0 ? 1U : 0U), 8};
    expect_refused(sluice_plan_apply(plan, 1, &array, nullptr), SLUICE_INVALID_ARGUMENT, "49");
    expect_refused(sluice_plan_apply(plan, 1, rank_ == 0 ? nullptr : &array, nullptr), SLUICE_INVALID_ARGUMENT, "NULL");
    array.count = k_count;
    ASSERT_EQ(sluice_plan_apply(plan, 1, &array, nullptr), SLUICE_SUCCESS) << sluice_last_error();
    EXPECT_EQ(blocks_, numbers_moved(0));
    EXPECT_EQ(sluice_plan_free(&plan), SLUICE_SUCCESS);
}

TEST_F(CInterface, options_name_what_is_wrong_with_them) {
    sluice_options* options = nullptr;
    ASSERT_EQ(sluice_options_create(&options), SLUICE_SUCCESS);
    EXPECT_EQ(sluice_options_set(options, "stagging", "1MiB"), SLUICE_INVALID_ARGUMENT);
    EXPECT_NE(std::string(sluice_last_error()).find("'staging'"), std::string::npos) << sluice_last_error();
    EXPECT_EQ(sluice_options_set(options, "staging", nullptr), SLUICE_INVALID_ARGUMENT);
    ASSERT_EQ(sluice_options_set(options, "read_bytes", "8KiB"), SLUICE_SUCCESS);
    expect_refused(redistribute(options), SLUICE_INVALID_ARGUMENT,
                   "read_bytes");  // this is a setting of a context, not of a call

    sluice_context* other = nullptr;
    ASSERT_EQ(sluice_context_create(MPI_COMM_WORLD, options, &other), SLUICE_SUCCESS) << sluice_last_error();
    EXPECT_EQ(sluice_context_free(&other), SLUICE_SUCCESS);
    EXPECT_EQ(sluice_options_free(&options), SLUICE_SUCCESS);
}

TEST_F(CInterface, a_context_is_refused_everywhere_where_one_rank_has_a_wrong_setting) {
    if (rank_ == 0) setenv("SLUICE_STAGGING", "1MiB", 1);
    sluice_context* other = nullptr;
    int const code = sluice_context_create(MPI_COMM_WORLD, nullptr, &other);
    if (rank_ == 0) unsetenv("SLUICE_STAGGING");
    expect_refused(code, SLUICE_INVALID_ARGUMENT, "SLUICE_STAGGING");
    EXPECT_EQ(other, nullptr);
}

TEST_F(CInterface, null_handles_are_errors_and_freeing_them_is_none) {
    EXPECT_EQ(sluice_redistribute(nullptr, nullptr, 0, 1, 0, nullptr, nullptr, nullptr, nullptr),
              SLUICE_INVALID_ARGUMENT);
    EXPECT_EQ(sluice_plan_apply(nullptr, 0, nullptr, nullptr), SLUICE_INVALID_ARGUMENT);
    EXPECT_EQ(sluice_options_create(nullptr), SLUICE_INVALID_ARGUMENT);
    EXPECT_EQ(sluice_context_free(nullptr), SLUICE_INVALID_ARGUMENT);
    sluice_context* no_context = nullptr;
    EXPECT_EQ(sluice_context_free(&no_context), SLUICE_SUCCESS);
    EXPECT_EQ(sluice_plan_memory(nullptr), 0u);
    EXPECT_EQ(sluice_report_size(nullptr), 0u);
    EXPECT_EQ(sluice_plan_create_computed(nullptr, 0, nullptr, nullptr, nullptr, nullptr), SLUICE_INVALID_ARGUMENT);
    EXPECT_STREQ(sluice_report_text(nullptr), "");
}

TEST_F(CInterface, empty_arrays_are_fine) {
    EXPECT_EQ(sluice_redistribute(context_, nullptr, 0, 8, 0, nullptr, nullptr, nullptr, nullptr), SLUICE_SUCCESS)
        << sluice_last_error();
}

/// All numbers go to the next rank, in reverse, and what that is inverted. `shift`: by how much the inverse is wrong.
struct NextRank {
    int rank;
    int size;
    int shift;
};

void go_to_next(void* user, std::uint64_t index, void const*, int* rank, std::int64_t* destination) {
    auto const* const map = static_cast<NextRank const*>(user);
    *rank = (map->rank + 1) % map->size;
    *destination = k_count - 1 - static_cast<std::int64_t>(index);
}

void come_from_last(void* user, std::uint64_t slot, int* rank, std::int64_t* source) {
    auto const* const map = static_cast<NextRank const*>(user);
    *rank = (map->rank + map->size - 1) % map->size;
    *source = (2 * k_count - 1 - static_cast<std::int64_t>(slot) + map->shift) % k_count;
}

TEST_F(CInterface, moves_by_a_map_and_its_inverse) {
    NextRank map{rank_, size_, 0};
    ASSERT_EQ(sluice_redistribute_invertible(context_, blocks_.data() + 1, k_count, 8, go_to_next, come_from_last, &map,
                                             nullptr, nullptr),
              SLUICE_SUCCESS)
        << sluice_last_error();
    EXPECT_EQ(blocks_, numbers_moved(0));
    blocks_ = numbers(0);
    sluice_plan* plan = nullptr;
    ASSERT_EQ(sluice_plan_create_invertible(context_, k_count, go_to_next, come_from_last, &map, nullptr, &plan),
              SLUICE_SUCCESS)
        << sluice_last_error();
    sluice_blocks const array{blocks_.data() + 1, k_count, 8};
    EXPECT_EQ(sluice_plan_apply(plan, 1, &array, nullptr), SLUICE_SUCCESS) << sluice_last_error();
    EXPECT_EQ(blocks_, numbers_moved(0));
    EXPECT_EQ(sluice_plan_free(&plan), SLUICE_SUCCESS);
}

TEST_F(CInterface, refuses_an_inverse_that_is_none) {
    NextRank map{rank_, size_, rank_ == size_ - 1 ? 1 : 0};
    auto const move = [&](sluice_inverse_function source) {
        return sluice_redistribute_invertible(context_, blocks_.data() + 1, k_count, 8, go_to_next, source, &map,
                                              nullptr, nullptr);
    };
    expect_refused(move(come_from_last), SLUICE_INVALID_ARGUMENT, "does not invert");
    expect_refused(move(rank_ == 0 ? nullptr : come_from_last), SLUICE_INVALID_ARGUMENT,
                   "the inverse function is NULL");
    sluice_plan* plan = nullptr;
    expect_refused(sluice_plan_create_invertible(context_, k_count, go_to_next, come_from_last, &map, nullptr, &plan),
                   SLUICE_INVALID_ARGUMENT, "does not invert");
    EXPECT_EQ(plan, nullptr);
}

}  // namespace
