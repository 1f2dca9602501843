// SPDX-License-Identifier: BSD-3-Clause
// Whose memory it is, with leases of Sluice among it.
#include "plugin/tables/memory_watch.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "memory/leased.hpp"

namespace sluice::plugin {

namespace {

constexpr std::uint64_t k_bytes = 4 << 20;

/// One call, with readings at both ends, in which `work` runs.
template <class Work>
record::Site call(MemoryWatch& watch, Work const& work) {
    record::Site site{};
    std::uint64_t now = 1000;
    EXPECT_TRUE(watch.enter(now));
    work();
    now += 1000;
    watch.leave(now, 1000, true, 0, site, [] { return std::uint64_t{1}; });
    return site;
}

memory::LeasedBytes touched(Budget const& budget) {
    memory::LeasedBytes bytes = memory::leased_bytes(budget, k_bytes, Purpose::staging);
    std::memset(bytes.get(), 1, k_bytes);
    return bytes;
}

TEST(MemoryWatch, what_sluice_leases_in_a_call_is_sluices_not_mpis) {
    Budget budget(64_MiB);
    MemoryWatch watch(&budget);
    watch.start(0);
    watch.measured(100 << 10);
    memory::LeasedBytes held;
    record::Site const site = call(watch, [&] { held = touched(budget); });
    EXPECT_LT(site.grown_private, k_bytes / 8);
    EXPECT_GE(watch.sluice(), (100U << 10) + k_bytes);
    record::Sample const sample = watch.sample(3000, false, 0, 0);
    EXPECT_GE(sample.sluice, 100U + k_bytes / 1024);
    EXPECT_LT(sample.mpi_private, k_bytes / 1024 / 8);
}

TEST(MemoryWatch, what_sluice_gives_back_in_a_call_is_not_taken_from_mpi) {
    Budget budget(64_MiB);
    MemoryWatch watch(&budget);
    watch.start(0);
    memory::LeasedBytes held = touched(budget);
    watch.mpi_private = 8 << 20;
    call(watch, [] {});
    call(watch, [&] { held.reset(); });
    EXPECT_GT(watch.mpi_private.load(), 7U << 20);
    EXPECT_TRUE(watch.take_shrunk()) << "an address may come again with new pages";
}

TEST(MemoryWatch, fixed_memory_is_what_was_measured_less_the_leases_of_then) {
    Budget budget(64_MiB);
    MemoryWatch watch(&budget);
    memory::LeasedBytes held = touched(budget);
    watch.measured(k_bytes + (1 << 20));
    EXPECT_EQ(watch.sluice(), k_bytes + (1 << 20));
    held.reset();
    EXPECT_LE(watch.sluice(), 1U << 20);
    EXPECT_GT(watch.sluice(), (1U << 20) - 4096);
}

}  // namespace

}  // namespace sluice::plugin
