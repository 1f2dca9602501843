// SPDX-License-Identifier: BSD-3-Clause
/// The streamed exchange: every byte of random parts, the bound of memory, producers that are late or throw, takers
/// that stop.
#include "sluice/exchange.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/effort.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {
namespace {

class Exchanges : public testing::Test {
  protected:
    Exchanges() { make({}); }

    void make(Settings const& settings) {
        context_.reset();
        context_.emplace(MPI_COMM_WORLD, settings);
        rank_ = context_->rank();
        ranks_ = context_->size();
    }

    static std::byte byte_of(int from, int to, std::uint64_t part, std::uint64_t i) {
        std::uint64_t word =
            (static_cast<std::uint64_t>(from * 131 + to) * 1000 + part + i / 8) * 0x9e3779b97f4a7c15ULL;
        word ^= word >> 31;
        return static_cast<std::byte>(word >> (8 * (i % 8)));
    }
    static void write(int from, int to, std::uint64_t part, std::span<std::byte> out) {
        for (std::uint64_t i = 0; i < out.size(); ++i)
            out[i] = byte_of(from, to, part, i);
    }
    static bool holds(int from, int to, std::uint64_t part, std::span<std::byte const> bytes) {
        for (std::uint64_t i = 0; i < bytes.size(); ++i)
            if (bytes[i] != byte_of(from, to, part, i)) return false;
        return true;
    }
    OutgoingPart produced(int to, std::uint64_t part, std::uint64_t bytes) const {
        return {to, {}, Bytes{bytes}, [=, from = rank_](std::span<std::byte> out) { write(from, to, part, out); }};
    }
    /// Its producer takes so long that others wait for it.
    OutgoingPart produced_late(int to, std::uint64_t part, std::uint64_t bytes, std::chrono::microseconds time) const {
        return {to, {}, Bytes{bytes}, [=, from = rank_](std::span<std::byte> out) {
                    std::this_thread::sleep_for(time);
                    write(from, to, part, out);
                }};
    }

    std::optional<Context> context_;
    int rank_ = 0;
    int ranks_ = 1;
};

/// The sizes of the parts that one rank has for another, which all ranks can compute.
std::vector<std::uint64_t> sizes(int seed, int from, int to) {
    std::mt19937 random(static_cast<unsigned>((seed * 64 + from) * 64 + to));
    std::vector<std::uint64_t> all(random() % 4);
    for (std::uint64_t& bytes : all) {
        std::uint64_t const most[]{1, 10, 1000, 40'000, 300'000};
        bytes = random() % most[random() % 5];
    }
    return all;
}

TEST_F(Exchanges, bring_every_byte_of_random_parts_produced_or_in_memory) {
    for (int seed = 0; seed < effort(20); ++seed) {
        std::vector<OutgoingPart> parts;
        std::vector<std::vector<std::byte>> memory;
        std::map<std::pair<int, std::uint64_t>, int> expected;  // sender and size
        for (int to = 0; to < ranks_; ++to) {
            for (std::uint64_t const bytes : sizes(seed, rank_, to)) {
                parts.push_back(produced(to, bytes, bytes));
                if (bytes % 2 == 0) continue;
                memory.emplace_back(bytes);
                write(rank_, to, bytes, memory.back());
                parts.back() = {to, memory.back(), {}, {}};
            }
            for (std::uint64_t const bytes : sizes(seed, to, rank_))
                if (bytes > 0) ++expected[{to, bytes}];
        }
        ExchangeReport const report = exchange(*context_, parts, [&](int from, FetchResult part) {
            EXPECT_TRUE(holds(from, rank_, part[0].size(), part[0])) << "from rank " << from;
            --expected[{from, part[0].size()}];
        });
        for (auto const& [which, missing] : expected)
            EXPECT_EQ(missing, 0) << which.second << " bytes from rank " << which.first;
        std::uint64_t totals[2]{report.sent.count, report.received.count};
        MPI_Allreduce(MPI_IN_PLACE, totals, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        EXPECT_EQ(totals[0], totals[1]);
    }
}

TEST_F(Exchanges, bring_every_byte_of_producers_that_are_late_with_little_memory_and_with_much) {
    for (int seed = 0; seed < effort(6); ++seed) {
        Settings settings;
        settings.fetch_memory = settings.serve_memory = seed % 2 == 0 ? 1_B : 4_MiB;
        make(settings);
        std::mt19937 random(static_cast<unsigned>(seed * 64 + rank_));
        std::vector<OutgoingPart> parts;
        std::size_t expected = 0;
        for (int to = 0; to < ranks_; ++to) {
            for (std::uint64_t const bytes : sizes(seed, rank_, to))
                parts.push_back(produced_late(to, bytes, bytes, std::chrono::microseconds(random() % 3 * 700)));
            for (std::uint64_t const bytes : sizes(seed, to, rank_))
                if (bytes > 0) ++expected;
        }
        std::size_t taken = 0;
        exchange(*context_, parts, [&](int from, FetchResult part) {
            EXPECT_TRUE(holds(from, rank_, part[0].size(), part[0])) << "from rank " << from;
            ++taken;
        });
        EXPECT_EQ(taken, expected);
    }
}

SLUICE_NEEDS_RANKS(2, Exchanges, need_memory_for_one_part_if_the_budget_has_no_more);
TEST_F(Exchanges, need_memory_for_one_part_if_the_budget_has_no_more) {
    Settings settings;
    settings.fetch_memory = 1_B;
    settings.serve_memory = 1_B;
    make(settings);
    constexpr std::uint64_t k_part = 100'000;
    std::vector<OutgoingPart> parts;
    for (int to = 0; to < ranks_; ++to)
        for (std::uint64_t i = 0; i < 10; ++i)
            parts.push_back(produced(to, i, k_part));
    std::uint64_t taken = 0;
    ExchangeReport const report = exchange(*context_, parts, [&](int, FetchResult part) {
        EXPECT_EQ(part[0].size(), k_part);
        ++taken;
    });
    EXPECT_EQ(taken, 10U * static_cast<std::uint64_t>(ranks_));
    EXPECT_LE(report.peak.count, 4 * k_part);  // one that comes and one that leaves, in each half of the tokens
    EXPECT_EQ(report.parts_received, 10U * static_cast<std::uint64_t>(ranks_ - 1));
}

TEST_F(Exchanges, go_on_if_parts_are_kept) {
    std::vector<OutgoingPart> parts;
    for (int to = 0; to < ranks_; ++to)
        parts.push_back(produced(to, 0, 5000));
    std::vector<std::pair<int, FetchResult>> kept;
    exchange(*context_, parts, [&](int from, FetchResult part) { kept.emplace_back(from, std::move(part)); });
    ASSERT_EQ(kept.size(), static_cast<std::size_t>(ranks_));
    for (auto const& [from, part] : kept)
        EXPECT_TRUE(holds(from, rank_, 0, part[0]));
}

TEST_F(Exchanges, of_a_producer_that_throws_are_one_error_on_all_ranks_and_bring_the_other_parts) {
    std::vector<OutgoingPart> parts;
    for (int to = 0; to < ranks_; ++to)
        parts.push_back(produced(to, 0, 3000));
    if (rank_ == ranks_ - 1)
        parts.front().produce = [](std::span<std::byte>) { throw std::runtime_error("the disk is gone"); };
    int taken = 0;
    std::string said;
    try {
        exchange(*context_, parts, [&](int, FetchResult const&) { ++taken; });
    } catch (Error const& error) {
        said = error.what();
    }
    EXPECT_NE(said.find("the disk is gone"), std::string::npos) << said;
    EXPECT_EQ(taken, rank_ == 0 ? ranks_ - 1 : ranks_);
    taken = 0;
    for (OutgoingPart& part : parts)
        part = produced(part.rank, 0, 3000);
    exchange(*context_, parts, [&](int, FetchResult const&) { ++taken; });
    EXPECT_EQ(taken, ranks_);
}

TEST_F(Exchanges, of_a_taker_that_throws_end_on_all_ranks) {
    std::vector<OutgoingPart> parts;
    for (int to = 0; to < ranks_; ++to)
        for (std::uint64_t i = 0; i < 5; ++i)
            parts.push_back(produced(to, i, 2000));
    int taken = 0;
    auto const take = [&](int, FetchResult const&) {
        if (++taken == 3 && rank_ == 0) throw std::runtime_error("enough");
    };
    if (rank_ == 0)
        EXPECT_THROW(exchange(*context_, parts, take), std::runtime_error);
    else
        EXPECT_NO_THROW(exchange(*context_, parts, take));
    EXPECT_EQ(taken, rank_ == 0 ? 3 : 5 * ranks_);
}

TEST_F(Exchanges, give_parts_to_coroutines_that_wait_while_others_come) {
    std::vector<OutgoingPart> parts;
    for (int to = 0; to < ranks_; ++to)
        for (std::uint64_t i = 0; i < 6; ++i)
            parts.push_back(produced(to, 7, 1000 + 10'000 * i));
    int at_once = 0;
    int most = 0;
    int taken = 0;
    auto const take = [&](int from, FetchResult part) -> Task {
        most = std::max(most, ++at_once);
        for (int turn = 0; turn < 50; ++turn)
            co_await yielded();
        EXPECT_TRUE(holds(from, rank_, 7, part[0])) << "from rank " << from;
        --at_once;
        ++taken;
    };
    ExchangeReport const report = exchange_in_tasks(*context_, parts, take);
    EXPECT_EQ(taken, 6 * ranks_);
    EXPECT_EQ(at_once, 0);
    EXPECT_GT(most, 1);
    EXPECT_EQ(report.parts_received, 6U * static_cast<std::uint64_t>(ranks_ - 1));
}

TEST_F(Exchanges, of_a_coroutine_that_throws_end_on_all_ranks) {
    std::vector<OutgoingPart> parts;
    for (int to = 0; to < ranks_; ++to)
        for (std::uint64_t i = 0; i < 5; ++i)
            parts.push_back(produced(to, i, 2000));
    auto const take = [&](int, FetchResult) -> Task {
        co_await yielded();
        if (rank_ == 0) throw std::runtime_error("enough");
    };
    if (rank_ == 0)
        EXPECT_THROW(exchange_in_tasks(*context_, parts, take), std::runtime_error);
    else
        EXPECT_NO_THROW(exchange_in_tasks(*context_, parts, take));
    int taken = 0;
    exchange(*context_, parts, [&](int, FetchResult const&) { ++taken; });
    EXPECT_EQ(taken, 5 * ranks_);
}

TEST_F(Exchanges, of_coroutines_that_wait_for_ever_are_an_error_where_they_wait) {
    std::vector<OutgoingPart> parts;
    for (int to = 0; to < ranks_; ++to)
        parts.push_back(produced(to, 0, 500));
    Store other(*context_);
    auto const take = [&](int from, FetchResult) -> Task {
        std::vector<FetchRequest> const never{{{rank_, 12'345, 0}, 8_B}};
        if (from == rank_ && rank_ == 0) co_await other.fetch_all(never);
    };
    if (rank_ == 0)
        EXPECT_THROW(exchange_in_tasks(*context_, parts, take), Error);
    else
        EXPECT_NO_THROW(exchange_in_tasks(*context_, parts, take));
}

TEST_F(Exchanges, refuse_wrong_parts_on_all_ranks) {
    auto const said_of = [&](OutgoingPart const& wrong, PartTaker const& take) {
        std::vector<OutgoingPart> parts{produced(0, 0, 10)};
        if (rank_ == ranks_ - 1) parts.push_back(wrong);
        try {
            exchange(*context_, parts, take);
        } catch (Error const& error) {
            EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
            return std::string(error.what());
        }
        return std::string();
    };
    PartTaker const take = [](int, FetchResult const&) {};
    std::string const last = "rank " + std::to_string(ranks_ - 1) + ": part 1 ";
    EXPECT_EQ(said_of(produced(ranks_, 0, 10), take).find(last + "is for rank " + std::to_string(ranks_)), 0U);
    EXPECT_EQ(said_of(produced(-1, 0, 10), take).find(last + "is for rank -1"), 0U);
    EXPECT_EQ(said_of({0, {}, Bytes{10}, {}}, take).find(last + "has 10 bytes, and neither"), 0U);
    EXPECT_NE(said_of(produced(0, 0, 10), nullptr).find("takes parts is empty"), std::string::npos);
    EXPECT_EQ(said_of(produced(0, 0, 0), take), "");
    EXPECT_THROW(exchange_in_tasks(*context_, {}, nullptr), Error);
}

}  // namespace
}  // namespace sluice::tests
