// SPDX-License-Identifier: BSD-3-Clause
/// Single copies inside a node: contiguous data are read from their owner's memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/context_state.hpp"
#include "fetch/store_state.hpp"
#include "sluice/fetch.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::fetch {
namespace {

std::vector<std::uint32_t> words(int rank, std::uint64_t id, std::size_t count) {
    std::vector<std::uint32_t> words(count);
    for (std::size_t i = 0; i < count; ++i)
        words[i] = static_cast<std::uint32_t>((i + id * 77 + static_cast<std::uint64_t>(rank) * 13) * 2654435761U);
    return words;
}

Task fetch_and_compare(Store& store, FetchRequest want, std::vector<std::uint32_t> right, int& equal) {
    FetchResult const fetched = co_await store.fetch_all(want);
    auto const got = fetched.as<std::uint32_t>(0);
    equal += std::equal(got.begin(), got.end(), right.begin(), right.end()) ? 1 : 0;
}

class DirectRead : public testing::Test {
  protected:
    Settings settings = Settings::from_environment();
    /// Every rank publishes data of `counts` words, and fetches those of the next rank. Returns the store's report.
    StoreReport exchange(Context& context, std::vector<std::size_t> const& counts) {
        Store store(context);
        std::vector<std::vector<std::uint32_t>> data;
        int equal = 0;
        Tasks tasks(context);
        int const next = (context.rank() + 1) % context.size();
        for (std::size_t id = 0; id < counts.size(); ++id)
            data.push_back(words(context.rank(), id, counts[id]));
        for (std::size_t id = 0; id < counts.size(); ++id) {
            store.publish({context.rank(), id, 0}, std::as_bytes(std::span(data[id])));
            tasks.spawn(fetch_and_compare(store,
                                          {{next, id, 0}, id % 2 == 0 ? FetchRequest::k_any : Bytes{counts[id] * 4}},
                                          words(next, id, counts[id]), equal));
        }
        tasks.run();
        store.finish();
        EXPECT_EQ(equal, static_cast<int>(counts.size()));
        EXPECT_EQ(store.report().held, Bytes{0});
        return store.report();
    }
    // Sizes below and at the size from which direct reads are worth while, and much more than one look reads.
    std::vector<std::size_t> sizes() const {
        std::size_t const least = settings.read_from.count / 4;
        return {0, 1, least - 1, least, least + 1, 3'000'000, 100'000, 5'000'000};
    }
};

SLUICE_NEEDS_RANKS(2, DirectRead, is_used_for_what_is_large_and_lies_side_by_side);
TEST_F(DirectRead, is_used_for_what_is_large_and_lies_side_by_side) {
    Context context(MPI_COMM_WORLD, settings);
    if (!engine::ContextState::of(context).remote_memory().may_reach(0))
        GTEST_SKIP() << "no memory of other processes can be read here";
    StoreReport const report = exchange(context, sizes());
    EXPECT_EQ(report.fetched, 8U);
    EXPECT_EQ(report.served, 8U);
    EXPECT_EQ(report.read, 5U);
}

TEST_F(DirectRead, is_not_used_where_the_setting_wants_messages) {
    settings.transport = Transport::message;
    Context context(MPI_COMM_WORLD, settings);
    EXPECT_EQ(exchange(context, sizes()).read, 0U);
}

TEST_F(DirectRead, goes_on_when_memory_is_missing_for_a_moment) {
    Context context(MPI_COMM_WORLD, settings);
    Store store(context);
    fetch::StoreState::of(store).fail_allocations(1, 20);
    std::vector<std::uint32_t> const data = words(context.rank(), 0, 50'000);
    int equal = 0;
    Tasks tasks(context);
    int const next = (context.rank() + 1) % context.size();
    for (std::uint64_t id = 0; id < 4; ++id) {
        store.publish({context.rank(), id, 0}, std::as_bytes(std::span(data)));
        tasks.spawn(fetch_and_compare(store, {{next, id, 0}, 200'000}, words(next, 0, 50'000), equal));
    }
    tasks.run();
    store.finish();
    EXPECT_EQ(equal, 4);
    EXPECT_GE(store.report().retried, 20U);
}

SLUICE_NEEDS_RANKS(2, DirectRead, falls_back_to_a_message_where_the_reader_cannot);
TEST_F(DirectRead, falls_back_to_a_message_where_the_reader_cannot) {
    Context context(MPI_COMM_WORLD, settings);
    Store store(context);
    std::vector<std::uint32_t> const data = words(context.rank(), 0, 50'000);
    int const next = (context.rank() + 1) % context.size();
    int ends = 0;
    std::vector<FetchRequest> const wants{{{next, 0, 0}, 200'000}, {{next, 1, 0}, 200'000}};
    store.fetch_all(wants, [&](FetchResult fetched, std::exception_ptr const& error) {
        ASSERT_EQ(error, nullptr);
        for (std::size_t i = 0; i < 2; ++i) {
            auto const got = fetched.as<std::uint32_t>(i);
            EXPECT_EQ(std::vector(got.begin(), got.end()), words(next, 0, 50'000));
        }
        ++ends;
    });
    // The owner will tell where the data are, but now they cannot be read any more.
    engine::ContextState::of(context).remote_memory().refuse(next);
    store.publish({context.rank(), 0, 0}, std::as_bytes(std::span(data)));
    store.publish({context.rank(), 1, 0}, std::as_bytes(std::span(data)));
    while (ends == 0)
        store.progress();
    store.finish();
    EXPECT_EQ(store.report().read, 0U);
    EXPECT_EQ(store.report().served, 2U);
    // Later requests do not even try direct reads.
    EXPECT_EQ(exchange(context, {100'000}).read, 0U);
}

}  // namespace
}  // namespace sluice::fetch
