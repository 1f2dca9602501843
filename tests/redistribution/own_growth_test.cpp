// SPDX-License-Identifier: BSD-3-Clause
/// The memory that a redistribution takes, by the growth of the process that the kernel tells (VmHWM), beside what the
/// library counts of itself:
///
///     growth  <=  promise  +  what peers own and this rank has touched: their rings, their places  +  the MPI's own
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "sluice/redistribute.hpp"
#include "support/memory.hpp"

namespace sluice::tests {
namespace {

constexpr std::uint64_t k_array = 8 << 20;
constexpr std::uint64_t k_staging = 2 << 20;
constexpr std::uint64_t k_places = 512 << 10;
/// What the MPI takes for messages that wait, and code and stacks that are touched for the first time.
constexpr std::uint64_t k_others = 1 << 20;

/// Transport and bytes of a block.
class OwnGrowth : public testing::TestWithParam<std::tuple<char const*, std::uint64_t>> {
  protected:
    OwnGrowth() : array_(k_array) {}

    static Settings settings() {
        Settings settings;
        settings.set("transport", std::get<0>(GetParam()));
        return settings;
    }
    /// Block j of rank i goes to rank i + j, to the slot as far from the end.
    RedistributionReport move(Context& context, std::span<std::byte> array) const {
        std::uint64_t const bytes = std::get<1>(GetParam());
        std::uint64_t const slots = array.size() / bytes;
        auto const ranks = static_cast<std::uint64_t>(context.size());
        auto const rank = static_cast<std::uint64_t>(context.rank());
        return redistribute(context, {array.data(), slots, {bytes}},
                            [&](std::uint64_t slot, std::span<std::byte const>) {
                                return Destination{static_cast<int>((rank + slot) % ranks),
                                                   static_cast<std::int64_t>(slots - 1 - slot)};
                            });
    }

    static std::uint64_t counter(RedistributionReport const& report, std::string_view name) {
        for (CounterValue const& value : report.counters)
            if (value.name == name) return value.value;
        return 0;
    }

    std::vector<std::byte> array_;
};

TEST_P(OwnGrowth, is_what_is_promised_and_what_peers_own) {
    {
        Context context(MPI_COMM_WORLD, settings());
        move(context, std::span(array_).first(k_array / 16));  // the MPI has its buffers then
    }
    Context context(MPI_COMM_WORLD, settings());
    bench::ResidentWatch const watch;
    RedistributionReport const report = move(context, array_);
    std::uint64_t const growth = watch.peak_growth();
    std::uint64_t const slots = k_array / std::get<1>(GetParam());
    auto const peers = static_cast<std::uint64_t>(context.size() - 1);
    std::uint64_t const promise = k_staging + 5 * slots + 64 * peers;
    EXPECT_LE(report.extra_peak.count, promise);
    // A rank writes to its part of each peer's rings, which are a quarter of the staging, and to all places of each.
    bool const has_places = counter(report, "node.place_pieces") > 0;
    std::uint64_t const of_peers = (peers > 0 ? k_staging / 4 : 0) + (has_places ? peers * k_places : 0);
    EXPECT_LE(growth, promise + of_peers + k_others)
        << "counted " << report.extra_peak.count << ", promised " << promise << "; " << report.why;
    // Large blocks use less than what is there for them.
    if (std::get<1>(GetParam()) == 64) {
        EXPECT_GT(growth, report.extra_peak.count / 2) << "the watch sees nothing";
    }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, OwnGrowth, testing::Combine(testing::Values("auto", "message"), testing::Values(64, 1024, 16384, 1 << 20)),
    [](auto const& each) {
        return std::string(std::get<0>(each.param)) + "_" + std::to_string(std::get<1>(each.param));
    });

}  // namespace
}  // namespace sluice::tests
