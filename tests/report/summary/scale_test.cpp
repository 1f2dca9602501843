// SPDX-License-Identifier: BSD-3-Clause
// 4096 ranks (512 where time is dear): the report remains small, and so does the work.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>
#include <vector>

#include "report/records.hpp"
#include "report/show/text.hpp"
#include "report/summary/summary.hpp"
#include "report/summary/summary_json.hpp"
#include "support/effort.hpp"

namespace sluice::report {
namespace {

/// Each rank has places, names, partners and times of its own, as far as a record can hold them.
void fill_up(record::RankRecord& record) {
    std::uint32_t const rank = record.head.world_rank;
    for (std::size_t i = 5; i < record::k_sites; ++i) {
        record::Site& site = record.sites[i];
        site = record.sites[1 + i % 4];
        site.address = i;
        std::string const place =
            "a_function_with_a_long_name_" + std::to_string(i * 7 + rank % 5) + "+0x1234 (libphysics.so)";
        std::copy(place.c_str(), place.c_str() + place.size() + 1, site.place.begin());
        site.time_ns += rank * 17 + i;
        for (std::uint32_t& count : site.sizes)
            count = rank % 1000 + 1;
    }
    record.head.sites = record::k_sites;
    for (std::size_t i = 0; i < record::k_peers; ++i)
        record.peers[i] = {(std::uint64_t{rank} << 20) + i, 1000 + i};
    for (std::uint64_t i = 0; i < record::k_events; ++i)
        record.events[i] = {i * 2900, static_cast<std::uint32_t>(1000 + i % 977),
                            static_cast<std::uint32_t>(i % record::k_sites), i << 12};
    record.head.events = record::k_events;
    for (std::uint64_t i = 0; i < record::k_comms; ++i)
        record.comms[i] = {rank, static_cast<std::uint32_t>(i), 2, 0, rank, 1, 5, 40, 1000 * i, 0, 0, 0};
    record.head.comms = record::k_comms;
}

/// Merges as MPI_Finalize does: in pairs, then in pairs of pairs.
struct Tree {
    std::vector<std::pair<std::uint32_t, Summary>> open;  ///< height, sum
    double merging = 0;

    void add(Summary summary) {
        std::uint32_t height = 0;
        while (!open.empty() && open.back().first == height) {
            auto const begin = std::chrono::steady_clock::now();
            merge(open.back().second, summary);
            merging += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            summary = std::move(open.back().second);
            open.pop_back();
            ++height;
        }
        open.emplace_back(height, std::move(summary));
    }
};

TEST(ReportOfManyRanks, stays_below_5_MB_however_much_each_rank_has_to_say) {
    std::uint32_t const ranks = tests::is_small_effort() ? 512 : 4096;
    Tree tree;
    std::uint64_t peak = 0;
    RecordPointer const first = make_record(0, ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        record::RankRecord& record = *first;
        record.head.world_rank = rank;
        record.head.sites = 6;
        std::uint32_t const more = rank * 131 % 4099;
        for (std::uint64_t i = 0; i < record.head.recent; ++i)
            record.recent[i].resident += more % 64;
        record.head.peak.resident += more % 64;
        peak = std::max<std::uint64_t>(peak, record.head.peak.resident);
        fill_up(record);
        tree.add(summary_of(record, {k_names,
                                     12'000'000,
                                     {std::uint64_t{rank} * record::k_comms, 0},
                                     std::uint64_t{ranks} * record::k_comms,
                                     0}));
    }
    ASSERT_EQ(tree.open.size(), 1U);
    Summary const& whole = tree.open.front().second;
    std::string const text = to_text(whole);
    RecordProperty("bytes", static_cast<int>(text.size()));
    std::printf("%u ranks: %.2f MB of JSON, %.2f MB of CBOR, %.2f ms a merge\n", ranks,
                static_cast<double>(text.size()) / 1e6, static_cast<double>(to_bytes(whole).size()) / 1e6,
                tree.merging * 1e3 / (ranks - 1));
    EXPECT_LE(text.size(), 5'000'000U);
    EXPECT_EQ(whole.ranks_seen, ranks);
    EXPECT_EQ(whole.peak_kib.most, peak);
    EXPECT_LE(whole.ranks.size(), k_full_ranks);
    EXPECT_LE(whole.sites.size(), record::k_sites);
    EXPECT_LE(whole.comms.size(), record::k_comms);
    EXPECT_EQ(whole.matrix.size(), 256U * 256U);
    EXPECT_EQ(whole.comms_total, std::uint64_t{ranks} * record::k_comms);
    // The ranks kept in full are spread over all ranks, and the one with the highest peak is among them.
    EXPECT_TRUE(std::any_of(whole.ranks.begin(), whole.ranks.end(),
                            [&](RankDetail const& detail) { return detail.rank == whole.highest.rank; }));
    EXPECT_GT(whole.ranks.back().rank, ranks * 9 / 10);
    // Every rank counts once in each bin of time.
    ASSERT_FALSE(whole.resident_over_ranks.bins().empty());
    std::uint64_t counted = 0;
    for (auto const& [bucket, seen] : whole.resident_over_ranks.bins()[20].counts)
        counted += seen;
    EXPECT_EQ(counted, ranks);
    EXPECT_FALSE(to_screen(whole).empty());
}

}  // namespace
}  // namespace sluice::report
