// SPDX-License-Identifier: BSD-3-Clause
/// The in-place all-to-all: sizes below, at and above every threshold, both ways to move bytes, its bounds and its
/// errors.
#include "collectives/inplace_alltoall.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "base/c_boundary.hpp"
#include "collectives/inplace_bed.hpp"
#include "sluice/collectives.hpp"
#include "support/effort.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {
namespace {

using collectives::InplaceAlltoall;
using collectives::InplaceBlocks;

std::vector<std::uint64_t> const k_sizes{0,    1,      7,      64,     1000,    8191,    8192,    8193,
                                         8255, 10'000, 65'536, 65'537, 131'072, 262'144, 300'001, 1'000'000};

class InplaceAlltoallTest : public testing::TestWithParam<bool> {
  protected:
    bool direct() const { return GetParam(); }
};

TEST_P(InplaceAlltoallTest, exchanges_blocks_of_every_size) {
    InplaceBed bed(direct());
    for (std::uint64_t const bytes : k_sizes)
        for (int call = 0; call < 3; ++call) {
            ByteBlocks blocks(bed.rank(), bed.size(), bytes);
            blocks.fill(call);
            EXPECT_EQ(bed.run(InplaceBlocks::alltoall(blocks.data(), static_cast<std::int64_t>(bytes), MPI_BYTE)),
                      MPI_SUCCESS);
            EXPECT_EQ(blocks.problem(call), "") << bytes << " bytes, call " << call;
            EXPECT_EQ(bed.report().exchanged.count, bytes * static_cast<std::uint64_t>(bed.size() - 1));
        }
}

TEST_P(InplaceAlltoallTest, stays_within_its_staging_whatever_the_blocks) {
    for (Bytes const staging : {64_KiB, 100_KiB, 256_KiB, 1_MiB}) {
        InplaceBed bed(direct(), staging);
        for (std::uint64_t const bytes : {std::uint64_t{5000}, std::uint64_t{3'000'000}}) {
            ByteBlocks blocks(bed.rank(), bed.size(), bytes);
            blocks.fill();
            EXPECT_EQ(bed.run(InplaceBlocks::alltoall(blocks.data(), static_cast<std::int64_t>(bytes), MPI_BYTE)),
                      MPI_SUCCESS);
            EXPECT_EQ(blocks.problem(), "");
            EXPECT_LE(bed.report().staging, staging);
        }
        EXPECT_LE(bed.pool().peak(), staging);
    }
}

TEST_P(InplaceAlltoallTest, of_two_ranks_with_different_staging_goes_by_the_smaller) {
    InplaceBed const shape(direct());
    InplaceBed bed(direct(), shape.rank() % 2 == 0 ? 64_KiB : 512_KiB);
    ByteBlocks blocks(bed.rank(), bed.size(), 700'000);
    blocks.fill();
    EXPECT_EQ(bed.run(InplaceBlocks::alltoall(blocks.data(), 700'000, MPI_BYTE)), MPI_SUCCESS);
    EXPECT_EQ(blocks.problem(), "");
}

TEST_P(InplaceAlltoallTest, with_counts_and_displacements_in_any_order_and_empty_blocks) {
    InplaceBed bed(direct());
    int const size = bed.size();
    int const rank = bed.rank();
    // Counts are symmetric and some are 0; blocks are in falling order with gaps between them.
    auto const count = [](int a, int b) { return (a + b) % 3 == 0 ? 0 : 3000 * (a + b) + 5 * (a * b) + 1; };
    std::vector<int> counts;
    std::vector<int> places(static_cast<std::size_t>(size));
    int end = 3;
    for (int peer = 0; peer < size; ++peer)
        counts.push_back(count(std::min(rank, peer), std::max(rank, peer)));
    for (int peer = size - 1; peer >= 0; --peer) {
        places[static_cast<std::size_t>(peer)] = end;
        end += counts[static_cast<std::size_t>(peer)] + 7;
    }
    std::vector<unsigned char> memory(static_cast<std::size_t>(end), 0xa5);
    std::vector<unsigned char> expected = memory;
    for (int peer = 0; peer < size; ++peer)
        for (int i = 0; i < counts[static_cast<std::size_t>(peer)]; ++i) {
            auto const at = static_cast<std::size_t>(places[static_cast<std::size_t>(peer)] + i);
            memory[at] = byte_of(rank, peer, static_cast<std::uint64_t>(i));
            expected[at] = byte_of(peer, rank, static_cast<std::uint64_t>(i));
        }
    EXPECT_EQ(bed.run(InplaceBlocks::alltoallv(memory.data(), counts.data(), places.data(), MPI_UNSIGNED_CHAR)),
              MPI_SUCCESS);
    EXPECT_TRUE(memory == expected);
}

SLUICE_NEEDS_RANKS(2, InplaceAlltoallTest, blocks_of_different_bytes_are_an_error_of_their_pair_alone);
TEST_P(InplaceAlltoallTest, blocks_of_different_bytes_are_an_error_of_their_pair_alone) {
    InplaceBed bed(direct());
    for (std::uint64_t const bytes : {std::uint64_t{100}, std::uint64_t{8192}, std::uint64_t{200'000}}) {
        ByteBlocks blocks(bed.rank(), bed.size(), bytes);
        blocks.fill();
        std::vector<int> counts(static_cast<std::size_t>(bed.size()), static_cast<int>(bytes));
        std::vector<int> places(counts.size());
        for (std::size_t i = 0; i < places.size(); ++i)
            places[i] = static_cast<int>(i * bytes);
        if (bed.rank() == 0) counts[1] -= 1;  // rank 1 expects one byte more
        int const code = bed.run(InplaceBlocks::alltoallv(blocks.data(), counts.data(), places.data(), MPI_BYTE));
        EXPECT_EQ(code, bed.rank() < 2 ? MPI_ERR_TRUNCATE : MPI_SUCCESS) << bytes;
        if (bed.rank() < 2) {
            EXPECT_NE(std::string(base::last_error_text()).find(std::to_string(bytes - (bed.rank() == 0 ? 0 : 1))),
                      std::string::npos)
                << base::last_error_text();
            // The pair's own block is untouched, and the others have arrived.
            int const other = 1 - bed.rank();
            unsigned char* const own = blocks.data() + static_cast<std::uint64_t>(other) * bytes;
            for (std::uint64_t i = 0; i < bytes; ++i)
                ASSERT_EQ(own[i], byte_of(bed.rank(), other, i));
            for (std::uint64_t i = 0; i < bytes; ++i)
                own[i] = byte_of(other, bed.rank(), i);
        }
        EXPECT_EQ(blocks.problem(), "");
    }
}

TEST_P(InplaceAlltoallTest, calls_on_several_communicators_may_run_in_any_order) {
    InplaceBed bed(direct());
    // Four calls run at once over one private communicator, each for other members in another order; each rank drives
    // them in an order of its own.
    constexpr int k_calls = 4;
    constexpr std::uint64_t k_bytes = 40'000;
    std::vector<ByteBlocks> blocks;
    std::vector<std::unique_ptr<InplaceAlltoall>> calls;
    std::vector<int> group(k_calls);  // rank of comm behind member m of call c: (m * sign + shift)
    struct Shift {
        int by;
        int size;
    };
    std::vector<Shift> shifts;
    for (int c = 0; c < k_calls; ++c)
        shifts.push_back({c * 3 + 1, bed.size()});
    for (int c = 0; c < k_calls; ++c) {
        blocks.emplace_back((bed.rank() + shifts[static_cast<std::size_t>(c)].by) % bed.size(), bed.size(), k_bytes);
        blocks.back().fill(c);
    }
    auto const make = [&](int c) {
        groups::Members members = bed.members(10 + c);
        members.rank = (bed.rank() + shifts[static_cast<std::size_t>(c)].by) % bed.size();
        members.in_comm = groups::RankMap::function(
            [](void const* argument, int member) {
                Shift const& shift = *static_cast<Shift const*>(argument);
                return ((member - shift.by) % shift.size + shift.size) % shift.size;
            },
            &shifts[static_cast<std::size_t>(c)]);
        return std::make_unique<InplaceAlltoall>(
            bed.means(), members,
            InplaceBlocks::alltoall(blocks[static_cast<std::size_t>(c)].data(), k_bytes, MPI_BYTE));
    };
    std::vector<int> order(k_calls);
    std::iota(order.begin(), order.end(), 0);
    std::rotate(order.begin(), order.begin() + bed.rank() % k_calls, order.end());
    calls.resize(k_calls);
    for (int const c : order)
        calls[static_cast<std::size_t>(c)] = make(c);
    for (bool all = false; !all;) {
        all = true;
        for (int const c : order)
            all = calls[static_cast<std::size_t>(c)]->progress() && all;
    }
    for (int c = 0; c < k_calls; ++c)
        EXPECT_EQ(blocks[static_cast<std::size_t>(c)].problem(c), "") << "call " << c;
}

INSTANTIATE_TEST_SUITE_P(Ways, InplaceAlltoallTest, testing::Bool(),
                         [](auto const& tested) { return tested.param ? "direct" : "messages"; });

TEST(InplaceAlltoallWays, are_those_that_were_asked_for) {
    for (bool const direct : {false, true}) {
        InplaceBed bed(direct);
        auto const peers = static_cast<std::uint64_t>(bed.size() - 1);
        ByteBlocks blocks(bed.rank(), bed.size(), 100'000);
        blocks.fill();
        bed.run(InplaceBlocks::alltoall(blocks.data(), 100'000, MPI_BYTE));
        EXPECT_EQ(bed.report().pairs_swapped + bed.report().pairs_staged, peers);
        if (!direct) {
            EXPECT_EQ(bed.report().pairs_swapped, 0U);
        }
        bed.run(InplaceBlocks::alltoall(blocks.data(), 100, MPI_BYTE));
        EXPECT_EQ(bed.report().pairs_small, peers);
    }
}

SLUICE_NEEDS_RANKS(2, InplaceAlltoallMemory, that_cannot_be_had_is_asked_for_in_a_smaller_size);
TEST(InplaceAlltoallMemory, that_cannot_be_had_is_asked_for_in_a_smaller_size) {
    InplaceBed bed;
    Budget budget(64_KiB);
    memory::StagingPool pool(&budget);
    node::RemoteMemory peers(false);
    ByteBlocks blocks(bed.rank(), bed.size(), 500'000);
    blocks.fill();
    InplaceAlltoall call({peers, pool, 256_KiB}, bed.members(),
                         InplaceBlocks::alltoall(blocks.data(), 500'000, MPI_BYTE));
    call.finish();
    EXPECT_EQ(blocks.problem(), "");
    EXPECT_LE(call.report().staging, 64_KiB);
    EXPECT_EQ(call.report().staging, InplaceAlltoall::k_least_staging);
}

TEST(CollectivesOfAContext, exchange_in_place_and_say_what_is_wrong) {
    Context context(MPI_COMM_WORLD, Settings{});
    auto const size = static_cast<std::size_t>(context.size());
    std::vector<std::int64_t> const counts(size, 30'000);
    std::vector<std::int64_t> places(size);
    for (std::size_t i = 0; i < size; ++i)
        places[i] = static_cast<std::int64_t>(30'000 * i);
    std::vector<MPI_Datatype> const types(size, MPI_BYTE);
    ByteBlocks blocks(context.rank(), context.size(), 30'000);
    blocks.fill(0);
    AlltoallReport const report = alltoall_in_place(context, blocks.data(), 30'000, MPI_BYTE);
    EXPECT_EQ(blocks.problem(0), "");
    EXPECT_EQ(report.exchanged.count, 30'000 * (size - 1));
    blocks.fill(1);
    alltoallv_in_place(context, blocks.data(), counts, places, MPI_BYTE);
    EXPECT_EQ(blocks.problem(1), "");
    blocks.fill(2);
    alltoallw_in_place(context, blocks.data(), counts, places, types);
    EXPECT_EQ(blocks.problem(2), "");

    std::vector<std::int64_t> wrong = counts;
    wrong.back() = -5;
    try {
        alltoallv_in_place(context, blocks.data(), wrong, places, MPI_BYTE);
        ADD_FAILURE() << "a negative count was taken";
    } catch (Error const& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
        EXPECT_NE(std::string(error.what()).find("-5"), std::string::npos) << error.what();
    }
    wrong.pop_back();
    EXPECT_THROW(alltoallv_in_place(context, blocks.data(), wrong, places, MPI_BYTE), Error);
}

TEST(CollectivesOfAContext, take_arrays_and_refuse_blocks_outside_them) {
    Context context(MPI_COMM_WORLD, Settings{});
    int const rank = context.rank();
    auto const size = static_cast<std::size_t>(context.size());
    auto const number = [](int from, std::size_t to, std::size_t i) {
        return (static_cast<std::uint64_t>(from) << 40) + (to << 20) + i;
    };
    std::size_t const each = 3'000;
    std::vector<std::uint64_t> numbers(size * each);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = number(rank, i / each, i % each);
    alltoall_in_place(context, numbers);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        ASSERT_EQ(numbers[i], number(static_cast<int>(i / each), static_cast<std::size_t>(rank), i % each)) << i;

    // Elements of twelve bytes, with one between the blocks that stays.
    using Element = std::array<std::uint32_t, 3>;
    std::vector<std::int64_t> const counts(size, 999);
    std::vector<std::int64_t> places(size);
    std::vector<Element> elements(size * 1'000);
    for (std::size_t i = 0; i < size; ++i)
        places[i] = static_cast<std::int64_t>(1'000 * i);
    for (std::size_t i = 0; i < elements.size(); ++i)
        elements[i] = {static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(i / 1'000),
                       static_cast<std::uint32_t>(i % 1'000)};
    alltoallv_in_place(context, std::span(elements), counts, places);
    for (std::size_t i = 0; i < elements.size(); ++i) {
        auto const there = static_cast<std::uint32_t>(i / 1'000);
        auto const here = static_cast<std::uint32_t>(rank);
        auto const place = static_cast<std::uint32_t>(i % 1'000);
        ASSERT_EQ(elements[i], place < 999 ? (Element{there, here, place}) : (Element{here, there, place})) << i;
    }

    places.back() += 2;
    EXPECT_THROW(alltoallv_in_place(context, elements, counts, places), Error);
    numbers.push_back(0);
    if (size > 1) {
        EXPECT_THROW(alltoall_in_place(context, numbers), Error);
    }
}

}  // namespace
}  // namespace sluice::tests
