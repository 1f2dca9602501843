// SPDX-License-Identifier: BSD-3-Clause
/// A million fetches leave nothing behind.
#include <gtest/gtest.h>
#include <malloc.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "sluice/fetch.hpp"
#include "support/effort.hpp"

namespace sluice::fetch {
namespace {

/// Counts the heap and the buffers of data outside it. The resident memory is not compared, because it also depends on
/// how the heap is fragmented.
std::uint64_t bytes_in_use(Context& context) {
    struct mallinfo2 const heap = mallinfo2();
    return heap.uordblks + heap.hblkhd + context.budget().resident().count;
}

constexpr std::int64_t k_allowed = 512'000;
constexpr std::uint64_t k_tasks = 100;
constexpr std::uint64_t k_wants = 4;

struct Epochs {
    std::uint64_t first;
    std::uint64_t number;
    /// The ranks sleep now and then, one after the other, so that as many messages as possible wait for a rank: MPI
    /// keeps the memory for them.
    bool are_uneven;
};

/// Publishes and fetches in each epoch.
Task live(Store& store, Context const& context, std::uint64_t id, Epochs epochs, std::uint64_t& wrong) {
    for (std::uint64_t epoch = epochs.first; epoch < epochs.first + epochs.number; ++epoch) {
        if (epochs.are_uneven && id == 0 && epoch % 8 == static_cast<std::uint64_t>(context.rank()))
            std::this_thread::sleep_for(std::chrono::milliseconds(3));
        // The data are packed or contiguous; one reader is in each of k_wants tasks of the next rank.
        std::uint64_t const value = id * 1'000'003 + epoch;
        Key const own{context.rank(), id, epoch};
        if (id % 2 == 0)
            store.publish(
                own, 8_B, [value](std::span<std::byte> out) { std::memcpy(out.data(), &value, 8); },
                static_cast<int>(k_wants));
        else
            store.publish(own, std::as_bytes(std::span(&value, 1)), static_cast<int>(k_wants));
        std::vector<FetchRequest> wants;
        int const next = (context.rank() + 1) % context.size();
        for (std::uint64_t i = 0; i < k_wants; ++i)
            wants.push_back({{next, (id + i) % k_tasks, epoch}, i % 2 == 0 ? 8_B : FetchRequest::k_any});
        FetchResult const fetched = co_await store.fetch_all(wants);
        for (std::uint64_t i = 0; i < k_wants; ++i)
            if (fetched.as<std::uint64_t>(i)[0] != (id + i) % k_tasks * 1'000'003 + epoch) ++wrong;
        co_await store.all_have_it(own);
    }
}

TEST(Endurance, a_million_fetches_grow_by_less_than_512_kb) {
    Context context(MPI_COMM_WORLD);
    Store store(context);
    std::uint64_t wrong = 0;
    std::uint64_t first = 0;
    auto const run = [&](std::uint64_t epochs, bool uneven) {
        Tasks tasks(context);
        for (std::uint64_t id = 0; id < k_tasks; ++id)
            tasks.spawn(live(store, context, id, {first, epochs, uneven}, wrong));
        tasks.run();
        first += epochs;
    };
    auto const fetches = static_cast<std::uint64_t>(tests::effort(1'000'000));
    std::uint64_t const epochs = fetches / (k_tasks * k_wants);
    run(epochs / 8, true);  // after this, nearly everything that is kept for ever exists
    // What a fetch leaves behind, each million of fetches leaves behind. MPI's memory for messages that wait also grows
    // when other work stops a rank for longer than before, so there is a second and a third million.
    std::int64_t least_growth = std::numeric_limits<std::int64_t>::max();
    bool grew = true;
    for (int million = 0; million < 3 && grew; ++million) {
        std::uint64_t const before = bytes_in_use(context);
        run(epochs, false);
        least_growth = std::min(least_growth, static_cast<std::int64_t>(bytes_in_use(context) - before));
        int here = least_growth >= k_allowed ? 1 : 0;
        int any = 0;
        MPI_Allreduce(&here, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        grew = any != 0;
    }
    store.finish();
    EXPECT_EQ(wrong, 0U);
    EXPECT_GE(store.report().sets, fetches / k_wants);
    EXPECT_LT(least_growth, k_allowed) << "each million of fetches left as much behind";
}

}  // namespace
}  // namespace sluice::fetch
