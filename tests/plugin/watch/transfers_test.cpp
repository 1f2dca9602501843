// SPDX-License-Identifier: BSD-3-Clause
// How much of a call's time was waiting: from bytes and nanoseconds alone.
#include "plugin/watch/transfers.hpp"

#include <gtest/gtest.h>

namespace sluice::plugin {

namespace {

constexpr std::uint64_t k_mib = 1 << 20;
constexpr std::uint64_t k_ms = 1'000'000;

TEST(Transfers, a_balanced_exchange_of_64_MiB_does_not_wait) {
    Transfers transfers;
    std::uint64_t time = 0, waited = 0;
    for (std::uint64_t const ns : {40 * k_ms, 35 * k_ms, 52 * k_ms, 38 * k_ms, 61 * k_ms}) {
        time += ns;
        waited += transfers.waiting(3, ns, 128 * k_mib);
    }
    EXPECT_LT(waited, time / 10);
}

TEST(Transfers, a_late_partner_is_waited_for) {
    Transfers transfers;
    EXPECT_EQ(transfers.waiting(1, 40 * k_ms, 64 * k_mib), 0U);
    EXPECT_NEAR(static_cast<double>(transfers.waiting(1, 540 * k_ms, 64 * k_mib)), 460e6, 1e6);
}

TEST(Transfers, a_place_that_always_waits_has_no_slower_transfer_than_10_ns_a_byte) {
    Transfers transfers;
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(transfers.waiting(1, 100 * k_ms, 1'000'000), 90 * k_ms);
}

TEST(Transfers, without_bytes_all_of_it_is_waiting) {
    Transfers transfers;
    EXPECT_EQ(transfers.waiting(1, 5 * k_ms, 0), 5 * k_ms);
    EXPECT_EQ(transfers.waiting(1, 5 * k_ms, 8), 5 * k_ms);
}

TEST(Transfers, places_do_not_learn_from_each_other) {
    Transfers transfers;
    EXPECT_EQ(transfers.waiting(1, k_ms, 10'000'000), 0U);
    EXPECT_EQ(transfers.waiting(2, 10 * k_ms, 10'000'000), 0U);
    EXPECT_EQ(transfers.waiting(1, 10 * k_ms, 10'000'000), 8 * k_ms);
}

TEST(Transfers, no_time_and_no_size_overflows) {
    Transfers transfers;
    EXPECT_EQ(transfers.waiting(1, ~std::uint64_t{0}, 1 << 20), ~std::uint64_t{0} - 1048 * 10'000 - 5760);
    EXPECT_EQ(transfers.waiting(2, 1, std::uint64_t{1} << 50), 0U);
}

}  // namespace

}  // namespace sluice::plugin
