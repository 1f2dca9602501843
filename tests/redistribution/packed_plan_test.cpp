// SPDX-License-Identifier: BSD-3-Clause
/// Redistribution of packed blocks of different sizes: each rank can compute what all ranks have, and so what must come
/// to it, byte for byte.
#include "sluice/packed_plan.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/context_state.hpp"
#include "sluice/allocate.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {
namespace {

/// What a rank has before.
struct Lists {
    std::vector<std::uint64_t> sizes;
    std::vector<int> ranks;
    bool operator==(Lists const&) const = default;
};
/// Of any rank; all ranks compute it alike.
using ListsOf = std::function<Lists(int rank)>;

template <class Element>
struct Packed {
    std::vector<Element> data;
    std::vector<std::uint64_t> sizes;
};

class PackedPlans : public testing::Test {
  protected:
    explicit PackedPlans(Settings const& settings = {})
        : context_(MPI_COMM_WORLD, settings), rank_(context_.rank()), ranks_(context_.size()) {}

    template <class Element>
    static Element element_of(int rank, std::uint64_t block, std::uint64_t at) {
        std::uint64_t const hash = (static_cast<std::uint64_t>(rank) << 48) + block * 1000003 + at * 2654435761U;
        return static_cast<Element>(hash ^ (hash >> 29));
    }
    template <class Element>
    static void append(Packed<Element>& packed, int rank, Lists const& lists, std::uint64_t block) {
        packed.sizes.push_back(lists.sizes[block]);
        for (std::uint64_t at = 0; at < lists.sizes[block]; ++at)
            packed.data.push_back(element_of<Element>(rank, block, at));
    }
    template <class Element>
    static Packed<Element> before(Lists const& lists, int rank) {
        Packed<Element> packed;
        for (std::uint64_t block = 0; block < lists.sizes.size(); ++block)
            append(packed, rank, lists, block);
        return packed;
    }
    template <class Element>
    Packed<Element> after(ListsOf const& all) const {
        Packed<Element> packed;
        for (int source = 0; source < ranks_; ++source) {
            Lists const lists = all(source);
            for (std::uint64_t block = 0; block < lists.sizes.size(); ++block)
                if (lists.ranks[block] == rank_) append(packed, source, lists, block);
        }
        return packed;
    }
    /// Moves what the lists say and compares it with what must come.
    template <class Element>
    RedistributionReport expect_moved(ListsOf const& all, RedistributeOptions const& options = {}) {
        Lists const lists = all(rank_);
        Packed<Element> mine = before<Element>(lists, rank_);
        RedistributionReport report = redistribute(context_, mine.data, mine.sizes, lists.ranks, Resize::grow, options);
        Packed<Element> const must = after<Element>(all);
        EXPECT_EQ(mine.sizes, must.sizes);
        EXPECT_TRUE(mine.data == must.data) << mine.data.size() << " elements, must be " << must.data.size();
        return report;
    }
    /// `most`: elements of a block. Some blocks are dropped, and some ranks get none.
    ListsOf random_lists(unsigned seed, std::uint64_t most_blocks, std::uint64_t most) const {
        return [=, this](int rank) {
            std::mt19937_64 random(seed * 1000 + static_cast<unsigned>(rank));
            Lists lists;
            std::uint64_t const blocks = random() % (most_blocks + 1);
            for (std::uint64_t block = 0; block < blocks; ++block) {
                lists.ranks.push_back(static_cast<int>(random() % static_cast<unsigned>(ranks_ + 1)) - 1);
                lists.sizes.push_back(random() % 4 == 0 ? 0 : random() % (most + 1));
            }
            return lists;
        };
    }
    std::uint64_t most_of_all(std::uint64_t mine) const {
        MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
        return mine;
    }
    /// The extra memory that the header promises for this rank, with what a plan keeps.
    std::uint64_t promise(ListsOf const& all, std::uint64_t staging, std::uint64_t element) const {
        std::uint64_t most_bytes = 0;
        std::uint64_t most_partners = 0;
        std::vector<std::uint64_t> after_bytes(static_cast<std::size_t>(ranks_), 0);
        std::vector<std::vector<bool>> sends(static_cast<std::size_t>(ranks_));
        for (int source = 0; source < ranks_; ++source) {
            Lists const lists = all(source);
            auto& to = sends[static_cast<std::size_t>(source)];
            to.assign(static_cast<std::size_t>(ranks_), false);
            std::uint64_t sum = 0;
            for (std::size_t block = 0; block < lists.sizes.size(); ++block) {
                sum += lists.sizes[block] * element;
                if (lists.ranks[block] < 0) continue;
                auto const target = static_cast<std::size_t>(lists.ranks[block]);
                after_bytes[target] += lists.sizes[block] * element;
                to[target] = true;
            }
            most_bytes = std::max(most_bytes, sum);
            most_partners = std::max(most_partners, static_cast<std::uint64_t>(std::count(to.begin(), to.end(), true)));
        }
        most_bytes = std::max(most_bytes, *std::max_element(after_bytes.begin(), after_bytes.end()));
        std::uint64_t partners = 0;
        for (int other = 0; other < ranks_; ++other)
            if (sends[static_cast<std::size_t>(rank_)][static_cast<std::size_t>(other)] ||
                sends[static_cast<std::size_t>(other)][static_cast<std::size_t>(rank_)])
                ++partners;
        auto const units = static_cast<std::uint64_t>(
            8 * std::sqrt(static_cast<double>(most_bytes) * static_cast<double>(most_partners)));
        std::uint64_t const kept = 12 * all(rank_).sizes.size() + 64 * partners;
        return std::max<std::uint64_t>(staging, 32 << 10) + 320 * partners + units + (64 << 10) + kept;
    }
    static std::optional<ErrorCode> code_of(std::function<void()> const& call, std::string const& says) {
        try {
            call();
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

TEST_F(PackedPlans, keep_the_order_of_the_whole_array) {
    for (unsigned seed = 1; seed <= 12; ++seed)
        expect_moved<std::uint8_t>(random_lists(seed, seed % 4 == 0 ? 3 : 300, seed % 3 == 0 ? 3000 : 20));
}

TEST_F(PackedPlans, move_elements_of_several_bytes) {
    for (unsigned seed = 20; seed < 24; ++seed)
        expect_moved<std::uint64_t>(random_lists(seed, 200, 300));
}

TEST_F(PackedPlans, move_one_giant_block_each) {
    // Larger than the staging, and for some ranks larger than all that they had.
    ListsOf const giants = [this](int rank) {
        std::uint64_t const size = (std::uint64_t{300} << 10) + static_cast<std::uint64_t>(rank) * 77777;
        return Lists{{size, 3}, {(rank + 1) % ranks_, 0}};
    };
    RedistributionReport const report = expect_moved<std::uint8_t>(giants, {std::nullopt, 32_KiB});
    EXPECT_LE(report.extra_peak.count, promise(giants, 32 << 10, 1));
}

TEST_F(PackedPlans, move_empty_blocks_and_blocks_of_empty_ranks) {
    expect_moved<std::uint8_t>([](int) { return Lists{}; });
    expect_moved<std::uint8_t>([this](int rank) {
        auto const blocks = static_cast<std::size_t>(rank) * 3;
        return Lists{std::vector<std::uint64_t>(blocks, 0), std::vector<int>(blocks, ranks_ - 1)};
    });
    expect_moved<std::uint8_t>([](int rank) {
        auto const blocks = static_cast<std::size_t>(rank) * 30;
        return Lists{std::vector<std::uint64_t>(blocks, 1000), std::vector<int>(blocks, -1)};
    });
}

TEST_F(PackedPlans, move_all_to_one_rank_and_back) {
    expect_moved<std::uint8_t>([this](int rank) {
        Lists lists;
        for (std::uint64_t block = 0; block < 40; ++block) {
            lists.sizes.push_back(block * static_cast<std::uint64_t>(rank + 1));
            lists.ranks.push_back(ranks_ - 1);
        }
        return lists;
    });
    expect_moved<std::uint8_t>([this](int rank) {
        Lists lists;
        if (rank > 0) return lists;
        for (std::uint64_t block = 0; block < 400; ++block) {
            lists.sizes.push_back(block * block % 977);
            lists.ranks.push_back(static_cast<int>(block % static_cast<std::uint64_t>(ranks_)));
        }
        return lists;
    });
}

TEST_F(PackedPlans, work_with_each_strategy) {
    for (Strategy const strategy :
         {Strategy::token, Strategy::parking, Strategy::cyclic, Strategy::alltoallv, Strategy::automatic})
        expect_moved<std::uint8_t>(random_lists(77, 60, 100), {strategy, std::nullopt});
}

TEST_F(PackedPlans, keep_the_promise_of_memory) {
    for (std::uint64_t const staging : {std::uint64_t{4} << 10, std::uint64_t{256} << 10}) {
        ListsOf const lists = random_lists(5, 2000, 400);
        RedistributionReport const report = expect_moved<std::uint8_t>(lists, {std::nullopt, Bytes{staging}});
        EXPECT_LE(report.extra_peak.count, promise(lists, staging, 1));
    }
}

TEST_F(PackedPlans, keep_twelve_bytes_a_block) {
    Lists const lists = random_lists(6, 5000, 10)(rank_);
    memory::Meter& meter = engine::ContextState::of(context_).meter();
    Bytes const held = meter.held();
    PackedPlan const plan(context_, {lists.sizes, lists.ranks});
    EXPECT_LE((meter.held() - held).count, 12 * lists.sizes.size() + 64 * (static_cast<std::uint64_t>(ranks_) + 1));
}

TEST_F(PackedPlans, count_the_blocks_of_the_program) {
    ListsOf const lists = random_lists(9, 100, 500);
    RedistributionReport const report = expect_moved<std::uint32_t>(lists);
    std::uint64_t sent = 0;
    std::uint64_t bytes = 0;
    Lists const mine = lists(rank_);
    for (std::size_t block = 0; block < mine.sizes.size(); ++block) {
        if (mine.ranks[block] < 0 || mine.ranks[block] == rank_) continue;
        ++sent;
        bytes += mine.sizes[block] * sizeof(std::uint32_t);
    }
    EXPECT_EQ(report.blocks_sent, sent);
    EXPECT_EQ(report.bytes_sent.count, bytes);
    std::uint64_t all[2] = {report.blocks_sent - report.blocks_received,
                            report.bytes_sent.count - report.bytes_received.count};
    MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_EQ(all[0], 0U);
    EXPECT_EQ(all[1], 0U);
}

TEST_F(PackedPlans, move_several_arrays_that_are_divided_alike) {
    ListsOf const all = random_lists(31, 100, 200);
    Lists lists = all(rank_);
    PackedPlan plan(context_, {lists.sizes, lists.ranks, {sizeof(std::uint32_t)}});
    Lists const kept = std::exchange(lists, {});  // the plan does not need the lists any longer
    Packed<std::uint32_t> const must = after<std::uint32_t>(all);
    EXPECT_EQ(plan.blocks_before(), kept.sizes.size());
    EXPECT_EQ(plan.blocks_after(), must.sizes.size());
    EXPECT_EQ(plan.elements_after(), must.data.size());
    EXPECT_EQ(plan.elements(), std::max(plan.elements_before(), plan.elements_after()));
    for (int turn = 0; turn < 3; ++turn) {
        Packed<std::uint32_t> mine = before<std::uint32_t>(kept, rank_);
        plan.apply(Resize::grow, mine.data, mine.sizes);
        EXPECT_EQ(mine.sizes, must.sizes);
        EXPECT_EQ(mine.data, must.data);
    }
}

TEST_F(PackedPlans, write_nothing_outside_of_the_array) {
    ListsOf const all = random_lists(41, 100, 200);
    Lists const lists = all(rank_);
    PackedPlan plan(context_, {lists.sizes, lists.ranks});
    Packed<std::uint8_t> const mine = before<std::uint8_t>(lists, rank_);
    Packed<std::uint8_t> const must = after<std::uint8_t>(all);
    constexpr std::size_t k_guard = 100;
    std::vector<std::uint8_t> guarded(plan.elements() + 2 * k_guard, 0xA5);
    std::copy(mine.data.begin(), mine.data.end(), guarded.begin() + k_guard);
    std::vector<std::uint64_t> sizes(plan.blocks_after() + 1, 4711);
    plan.apply(std::as_writable_bytes(std::span(guarded)).subspan(k_guard, plan.elements()), sizes);
    EXPECT_TRUE(std::equal(must.data.begin(), must.data.end(), guarded.begin() + k_guard));
    EXPECT_TRUE(std::equal(must.sizes.begin(), must.sizes.end(), sizes.begin()));
    EXPECT_EQ(sizes.back(), 4711U);
    EXPECT_EQ(std::count(guarded.begin(), guarded.begin() + k_guard, 0xA5), static_cast<std::ptrdiff_t>(k_guard));
    EXPECT_EQ(std::count(guarded.end() - k_guard, guarded.end(), 0xA5), static_cast<std::ptrdiff_t>(k_guard));
}

TEST_F(PackedPlans, move_arrays_that_ranks_share) {
    ListsOf const all = random_lists(51, 100, 2000);
    Lists const lists = all(rank_);
    Packed<std::uint8_t> const mine = before<std::uint8_t>(lists, rank_);
    Packed<std::uint8_t> const must = after<std::uint8_t>(all);
    PackedPlan plan(context_, {lists.sizes, lists.ranks});
    NodeVector<std::uint8_t> array = allocate<std::uint8_t>(context_, plan.elements());
    std::copy(mine.data.begin(), mine.data.end(), array.begin());
    std::vector<std::uint64_t> sizes(plan.blocks_after());
    plan.apply(std::as_writable_bytes(std::span(array)), sizes);
    EXPECT_TRUE(std::equal(must.data.begin(), must.data.end(), array.begin()));
    EXPECT_EQ(sizes, must.sizes);
}

TEST_F(PackedPlans, resize_as_they_are_told) {
    // All blocks of rank 0 go to the last rank.
    Lists const lists{std::vector<std::uint64_t>(10, 100), std::vector<int>(10, rank_ == 0 ? ranks_ - 1 : rank_)};
    Packed<std::uint8_t> mine = before<std::uint8_t>(lists, rank_);
    redistribute(context_, mine.data, mine.sizes, lists.ranks, Resize::fit);
    if (ranks_ > 1 && rank_ == 0) {
        EXPECT_TRUE(mine.data.empty());
        EXPECT_LT(mine.data.capacity(), 1000U);
        EXPECT_LT(mine.sizes.capacity(), 10U);
    }
    Packed<std::uint8_t> small = before<std::uint8_t>(lists, rank_);
    small.data.shrink_to_fit();
    Packed<std::uint8_t> const kept = small;
    auto const code = code_of([&] { redistribute(context_, small.data, small.sizes, lists.ranks, Resize::must_fit); },
                              "has room for 1000");
    if (ranks_ > 1) {
        EXPECT_EQ(code, ErrorCode::invalid_argument);
        EXPECT_EQ(small.data, kept.data);
        EXPECT_EQ(small.sizes, kept.sizes);
    }
}

TEST_F(PackedPlans, refuse_wrong_arguments_on_all_ranks) {
    bool const last = rank_ == ranks_ - 1;
    std::string const who = std::to_string(ranks_ - 1);
    std::vector<std::uint64_t> const sizes(10, 5);
    std::vector<int> ranks(10, rank_);
    if (last) ranks[3] = ranks_;
    EXPECT_EQ(code_of(
                  [&] {
                      PackedPlan(context_, {sizes, ranks});
                  },
                  "block 3 of rank " + who),
              ErrorCode::invalid_argument);
    ranks.assign(last ? 9 : 10, rank_);
    EXPECT_EQ(code_of(
                  [&] {
                      PackedPlan(context_, {sizes, ranks});
                  },
                  "10 sizes and 9 ranks"),
              ErrorCode::invalid_argument);
    ranks.assign(10, rank_);
    std::vector<std::uint64_t> huge = sizes;
    if (last) huge[0] = huge[1] = std::uint64_t{1} << 62;
    EXPECT_EQ(code_of([&] { PackedPlan(context_, {huge, ranks}); }, "address space"), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of(
                  [&] {
                      PackedPlan(context_, {sizes, ranks, {last ? 0U : 4U}});
                  },
                  "element_bytes"),
              ErrorCode::invalid_argument);
    if (ranks_ > 1) {
        EXPECT_EQ(code_of(
                      [&] {
                          PackedPlan(context_, {sizes, ranks, {last ? 2U : 4U}});
                      },
                      "element_bytes differs"),
                  ErrorCode::invalid_argument);
        RedistributeOptions other;
        other.staging = last ? 64_KiB : 128_KiB;
        EXPECT_EQ(code_of(
                      [&] {
                          PackedPlan(context_, {sizes, ranks}, other);
                      },
                      "staging differs"),
                  ErrorCode::invalid_argument);
    }

    PackedPlan plan(context_, {sizes, ranks, {4}});
    std::vector<std::uint64_t> few(last ? 9 : 10, 4711);
    std::vector<std::uint32_t> data(50, 7);
    auto const bytes = std::as_writable_bytes(std::span(data));
    EXPECT_EQ(code_of([&] { plan.apply(bytes, few); }, "has room for 9 blocks"), ErrorCode::invalid_argument);
    EXPECT_EQ(few, std::vector<std::uint64_t>(few.size(), 4711));
    few.resize(10);
    EXPECT_EQ(code_of([&] { plan.apply(last ? bytes.first(199) : bytes, few); }, "has 199 bytes"),
              ErrorCode::invalid_argument);
    std::vector<std::uint64_t> wide(50, 7);
    few = sizes;
    EXPECT_EQ(code_of([&] { plan.apply(Resize::grow, wide, few); }, "elements of 4 bytes"),
              ErrorCode::invalid_argument);
    PackedPlan const other = std::move(plan);
    EXPECT_EQ(code_of([&] { plan.apply(bytes, few); }, "was moved from"), ErrorCode::invalid_argument);
    EXPECT_EQ(other.elements(), 50U);
}

TEST_F(PackedPlans, are_one_error_on_all_ranks_whichever_allocation_fails) {
    ListsOf const all = random_lists(61, 100, 300);
    Lists const lists = all(rank_);
    expect_moved<std::uint8_t>(all);
    memory::Meter& meter = engine::ContextState::of(context_).meter();
    Bytes const held = meter.held();
    bool went_through = false;
    for (std::uint64_t allowed = 0; allowed < 400 && !went_through; ++allowed) {
        Packed<std::uint8_t> mine = before<std::uint8_t>(lists, rank_);
        Packed<std::uint8_t> const kept = mine;
        if (rank_ == ranks_ - 1) meter.fail_after(allowed);
        auto const code = code_of([&] { redistribute(context_, mine.data, mine.sizes, lists.ranks); }, "no memory");
        meter.never_fail();
        EXPECT_EQ(meter.held(), held);
        int refused = code ? 1 : 0;
        MPI_Allreduce(MPI_IN_PLACE, &refused, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        ASSERT_EQ(refused, code ? ranks_ : 0) << "when allocation " << allowed << " fails";
        went_through = !code;
        if (!code) continue;
        EXPECT_EQ(*code, ErrorCode::out_of_memory);
        ASSERT_TRUE(mine.data == kept.data && mine.sizes == kept.sizes) << "when allocation " << allowed << " fails";
    }
    EXPECT_TRUE(went_through);
    expect_moved<std::uint8_t>(all);
}

TEST_F(PackedPlans, report_all_that_the_one_call_does) {
    RedistributionReport const report = expect_moved<std::uint8_t>(random_lists(71, 200, 300));
    std::vector<std::string> steps;
    for (StepTime const& step : report.steps)
        steps.push_back(step.name);
    ASSERT_GE(steps.size(), 4U);
    steps.resize(4);
    EXPECT_EQ(steps, (std::vector<std::string>{"counts", "resize", "addresses", "prepare"}));
    // What the plan keeps counts: 8 bytes for each block at least.
    EXPECT_GE(report.extra_peak.count, 8 * random_lists(71, 200, 300)(rank_).sizes.size() + (64U << 10));
}

class PackedPlansByMessage : public PackedPlans {
  protected:
    PackedPlansByMessage() : PackedPlans(by_message()) {}
    static Settings by_message() {
        Settings settings;
        settings.set("transport", "message");
        settings.outstanding_requests = 4;
        return settings;
    }
};

TEST_F(PackedPlansByMessage, move_with_few_requests_open) {
    for (unsigned seed = 1; seed <= 4; ++seed) {
        RedistributionReport const report = expect_moved<std::uint8_t>(random_lists(seed, 300, 500));
        EXPECT_LE(report.requests_peak, 4U);
    }
}

}  // namespace
}  // namespace sluice::tests
