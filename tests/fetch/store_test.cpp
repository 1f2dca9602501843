// SPDX-License-Identifier: BSD-3-Clause
/// Publish and fetch on a few keys: every order of the steps, and every kind of wrong use.
#include "fetch/fetch_bed.hpp"
#include "sluice/fetch.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "fetch/store_state.hpp"

namespace sluice::tests {
namespace {

class StoreTest : public testing::Test {
  protected:
    explicit StoreTest(Settings const& settings = Settings::from_environment())
        : context(MPI_COMM_WORLD, settings), rank(context.rank()), size(context.size()) {}
    int peer(int distance = 1) const { return (rank + distance) % size; }
    Context context;
    int rank;
    int size;
};

Task fetch_from_all(Store& store, int size, std::vector<std::uint64_t> const& sizes, bool ask, int& right) {
    std::vector<FetchRequest> wants;
    for (int owner = 0; owner < size; ++owner)
        for (std::uint64_t i = 0; i < sizes.size(); ++i)
            wants.push_back({{owner, i, 5}, ask ? FetchRequest::k_any : Bytes{sizes[i]}});
    FetchResult const fetched = co_await store.fetch_all(wants);
    EXPECT_EQ(fetched.size(), wants.size());
    for (std::size_t i = 0; i < wants.size(); ++i)
        right += is_right(fetched, i, wants[i].key, sizes[i % sizes.size()]) ? 1 : 0;
}

TEST_F(StoreTest, brings_data_of_every_size_from_every_rank_to_every_rank) {
    std::vector<std::uint64_t> const sizes{0, 1, 8, 63, 1024, 1025, 4096, 5000, 65'536, 300'001};
    for (bool const ask : {false, true}) {
        Store store(context);
        for (std::uint64_t i = 0; i < sizes.size(); ++i)
            publish(store, {rank, i, 5}, sizes[i], size);
        Tasks tasks(context);
        int right = 0;
        tasks.spawn(fetch_from_all(store, size, sizes, ask, right));
        tasks.run();
        EXPECT_EQ(right, size * static_cast<int>(sizes.size()));
        store.finish();
        EXPECT_EQ(store.report().held, 0_B);
        EXPECT_EQ(store.report().served, static_cast<std::uint64_t>(size - 1) * sizes.size());
        EXPECT_EQ(store.report().fetched_here, sizes.size());
    }
}

Task fetch_one(Store& store, FetchRequest want, bool& right) {
    FetchResult const fetched = co_await store.fetch_all(want);
    right = is_right(fetched, 0, want.key, want.bytes.count);
}

Task publish_later(Store& store, Key key, std::uint64_t bytes) {
    co_await after(std::chrono::milliseconds(5));
    publish(store, key, bytes, 1);
}

TEST_F(StoreTest, keeps_a_request_that_comes_before_its_publication) {
    Store store(context);
    Tasks tasks(context);
    bool right = false;
    tasks.spawn(fetch_one(store, {{peer(), 1, 0}, 5000}, right));
    tasks.spawn(publish_later(store, {rank, 1, 0}, 5000));
    tasks.run();
    EXPECT_TRUE(right);
}

TEST_F(StoreTest, sends_bytes_that_lie_side_by_side_from_where_they_are) {
    std::vector<std::byte> const data = bytes_of({rank, 9, 0}, 100'000);
    Store store(context);
    store.publish({rank, 9, 0}, data);
    Tasks tasks(context);
    bool right = false;
    tasks.spawn(fetch_one(store, {{peer(), 9, 0}, 100'000}, right));
    tasks.run();
    EXPECT_TRUE(right);
}

Task wait_until_read(Store& store, Key key, int& stage) {
    co_await store.all_have_it(key);
    EXPECT_EQ(stage, 1);
    stage = 2;
}

Task fetch_twice(Store& store, Key key, int& stage) {
    { FetchResult const first = co_await store.fetch_all(FetchRequest{key, 100}); }
    co_await after(std::chrono::milliseconds(3));
    stage = 1;  // before the fetch, because the owner may count this reader before the task continues
    FetchResult const second = co_await store.fetch_all(FetchRequest{key, 100});
}

TEST_F(StoreTest, tells_the_owner_when_all_readers_have_it) {
    Store store(context);
    publish(store, {rank, 3, 0}, 100, 2);
    Tasks tasks(context);
    int stage = 0;
    tasks.spawn(wait_until_read(store, {rank, 3, 0}, stage));
    tasks.spawn(fetch_twice(store, {rank, 3, 0}, stage));
    tasks.run();
    EXPECT_EQ(stage, 2);
}

Task fetch_and_count(Store& store, FetchRequest want, int& right) {
    FetchResult const fetched = co_await store.fetch_all(want);
    right += is_right(fetched, 0, want.key, want.bytes.count) ? 1 : 0;
    co_await yielded();
}

TEST_F(StoreTest, uses_data_again_that_another_set_has_fetched) {
    constexpr int k_readers = 6;
    Store store(context);
    publish(store, {rank, 4, 0}, 2000, k_readers);
    Tasks tasks(context);
    int right = 0;
    for (int i = 0; i < k_readers; ++i)
        tasks.spawn(fetch_and_count(store, {{peer(), 4, 0}, 2000}, right));
    tasks.run();
    EXPECT_EQ(right, k_readers);
    EXPECT_EQ(store.report().reused, static_cast<std::uint64_t>(k_readers - 1));
    store.finish();  // the owner has counted every reader: otherwise this would not return
    EXPECT_EQ(store.report().held, 0_B);
}

TEST_F(StoreTest, counts_a_reader_who_finds_data_that_another_set_still_holds) {
    Store store(context);
    publish(store, {rank, 1, 0}, 64, 2);
    bool is_read = false;
    Tasks tasks(context);
    auto const reader = [](Store& from, int owner) -> Task {
        FetchResult const first = co_await from.fetch_all(FetchRequest{{owner, 1, 0}, 64});
        FetchResult const second =
            co_await from.fetch_all(FetchRequest{{owner, 1, 0}, 64});  // while the first result lives
        EXPECT_EQ(second[0].data(), first[0].data());
    };
    auto const owner = [](Store& of, int self, bool& read) -> Task {
        co_await of.all_have_it({self, 1, 0});
        read = true;
    };
    tasks.spawn(reader(store, peer()));
    tasks.spawn(owner(store, rank, is_read));
    tasks.run();
    EXPECT_TRUE(is_read);
    EXPECT_EQ(store.report().reused, 1U);
}

TEST_F(StoreTest, lets_a_publication_be_withdrawn_while_it_is_packed) {
    Store store(context);
    for (std::uint64_t id : {std::uint64_t{1}, std::uint64_t{2}})
        store.publish(
            {rank, id, 0}, 64_B,
            [&store, this, id](std::span<std::byte> out) {
                store.withdraw({rank, id, 0});
                std::ranges::fill(out, std::byte{42});
            },
            2);
    Tasks tasks(context);
    int right = 0;
    for (Key const key : {Key{peer(), 1, 0}, Key{rank, 2, 0}})  // over the wire, and inside the rank
        tasks.spawn([](Store& from, Key wanted, int& count) -> Task {
            FetchResult const fetched = co_await from.fetch_all(FetchRequest{wanted, 64});
            count += std::ranges::count(fetched[0], std::byte{42}) == 64 ? 1 : 0;
        }(store, key, right));
    tasks.run();
    EXPECT_EQ(right, 2);
}

TEST_F(StoreTest, names_both_sides_where_a_fetch_is_wrong) {
    Store store(context);
    publish(store, {rank, 1, 0}, 64, size);
    store.publish({rank, 2, 0}, 64_B, [](std::span<std::byte>) { throw std::runtime_error("no pencil"); });
    store.publish({rank, 7, 3}, 64_B, [](std::span<std::byte>) {});
    store.withdraw({rank, 7, 3});
    store.close(2);
    Tasks tasks(context);
    std::string wrong_size;
    std::string threw;
    std::string unknown;
    std::string withdrawn;
    std::string no_rank;
    std::string unknown_size;
    int const owner = peer();
    tasks.spawn(fault_of(store, {{{owner, 1, 0}, 65}}, wrong_size));
    tasks.spawn(fault_of(store, {{{owner, 2, 0}, 64}}, threw));
    tasks.spawn(fault_of(store, {{{owner, 1, 0}, 64}, {{owner, 99, 2}, 64}}, unknown));
    tasks.spawn(fault_of(store, {{{owner, 7, 3}, 64}}, withdrawn));
    tasks.spawn(fault_of(store, {{{size, 1, 0}, 64}}, no_rank));
    tasks.spawn(fault_of(store, {{{owner, 98, 1}, FetchRequest::k_any}}, unknown_size));
    tasks.run();
    std::string const me = "rank " + std::to_string(rank) + " fetches id ";
    std::string const it = "rank " + std::to_string(owner) + " says: it has ";
    EXPECT_EQ(wrong_size,
              me + "1 of epoch 0 from rank " + std::to_string(owner) + " (65 bytes); " + it + "published 64 bytes");
    EXPECT_NE(threw.find("threw an exception while it packed the data: no pencil"), std::string::npos) << threw;
    EXPECT_NE(unknown.find(me + "99 of epoch 2"), std::string::npos) << unknown;
    EXPECT_NE(unknown.find("closed the epochs up to 2"), std::string::npos) << unknown;
    EXPECT_NE(withdrawn.find(it + "withdrawn the data"), std::string::npos) << withdrawn;
    EXPECT_NE(no_rank.find("the context has ranks 0 to " + std::to_string(size - 1)), std::string::npos) << no_rank;
    EXPECT_NE(unknown_size.find(me + "98 of epoch 1"), std::string::npos) << unknown_size;
}

TEST_F(StoreTest, refuses_a_key_that_is_taken_or_another_ranks) {
    Store store(context);
    publish(store, {rank, 1, 0}, 8, 1);
    EXPECT_THROW(publish(store, {rank, 1, 0}, 8, 1), Error);
    EXPECT_THROW(publish(store, {rank + 1, 1, 0}, 8, 1), Error);
    store.withdraw({rank, 1, 0});
}

/// Peers may still fetch from this rank, so it serves while it waits.
Task wait_for_all() {
    MPI_Request barrier = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    co_await completed(barrier);
}

TEST_F(StoreTest, tells_who_comes_after_the_last_reader) {
    Store store(context);
    publish(store, {rank, 5, 0}, 16, 1);
    Tasks tasks(context);
    bool right = false;
    tasks.spawn(fetch_one(store, {{peer(), 5, 0}, 16}, right));
    tasks.run();
    EXPECT_TRUE(right);
    tasks.spawn(wait_for_all());
    tasks.run();
    std::string late;
    tasks.spawn(fault_of(store, {{{peer(), 5, 0}, 16}}, late));
    tasks.run();
    EXPECT_NE(late.find("all readers have had them"), std::string::npos) << late;
}

TEST_F(StoreTest, keeps_what_was_fetched_beyond_the_life_of_the_store) {
    FetchResult kept;
    {
        Store store(context);
        publish(store, {rank, 1, 1}, 3000, 1);
        bool called = false;
        store.fetch_all(std::vector<FetchRequest>{{{peer(), 1, 1}, 3000}},
                        [&](FetchResult fetched, std::exception_ptr const& error) {
                            EXPECT_EQ(error, nullptr);
                            kept = std::move(fetched);
                            called = true;
                        });
        while (store.report().sets == 0)
            store.progress();
        EXPECT_TRUE(called);
    }
    EXPECT_TRUE(is_right(kept, 0, {peer(), 1, 1}, 3000));
}

TEST_F(StoreTest, calls_back_from_progress_alone_also_where_nothing_has_to_be_waited_for) {
    Store store(context);
    int calls = 0;
    std::vector<FetchRequest> const of_no_rank{{{size, 1, 0}, 8}};
    auto const count = [&](FetchResult const&, std::exception_ptr const&) { ++calls; };
    store.fetch_all(std::vector<FetchRequest>{}, count);
    store.fetch_all(of_no_rank, [&](FetchResult const& fetched, std::exception_ptr const& error) {
        EXPECT_EQ(fetched.size(), 0U);
        EXPECT_NE(error, nullptr);
        store.fetch_all(std::vector<FetchRequest>{}, count);  // data of the next round
        ++calls;
    });
    EXPECT_EQ(calls, 0);
    EXPECT_TRUE(store.progress());
    EXPECT_EQ(calls, 2);
    EXPECT_TRUE(store.progress());
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(store.report().sets, 3U);
}

Settings tiny() {
    Settings settings = Settings::from_environment();
    settings.fetch_memory = 1_B;
    settings.serve_memory = 1_B;
    return settings;
}

class TinyBudget : public StoreTest {
  protected:
    TinyBudget() : StoreTest(tiny()) {}
};

/// Holds one set while it waits for another. This is bad practice with a small budget, but it must not hang.
Task nested(Store& store, int owner, std::uint64_t first, std::uint64_t depth, int& right) {
    FetchResult const fetched = co_await store.fetch_all(FetchRequest{{owner, first, 0}, 1000});
    right += is_right(fetched, 0, {owner, first, 0}, 1000) ? 1 : 0;
    if (depth > 1) co_await nested(store, owner, first + 1, depth - 1, right);
}

TEST_F(TinyBudget, grants_one_set_at_a_time_and_all_end) {
    constexpr std::uint64_t k_sets = 20;
    Store store(context);
    for (std::uint64_t i = 0; i < 3 * k_sets; ++i)
        publish(store, {rank, i, 0}, 700 + i, 1);
    Tasks tasks(context);
    int right = 0;
    for (std::uint64_t i = 0; i < k_sets; ++i)
        tasks.spawn([](Store& from, int owner, std::uint64_t number, int& count) -> Task {
            FetchResult const fetched =
                co_await from.fetch_all(FetchRequest{{owner, 3 * number, 0}, 700 + 3 * number},
                                        FetchRequest{{owner, 3 * number + 1, 0}, 701 + 3 * number},
                                        FetchRequest{{owner, 3 * number + 2, 0}, 702 + 3 * number});
            for (std::uint64_t k = 0; k < 3; ++k)
                count += is_right(fetched, k, {owner, 3 * number + k, 0}, 700 + 3 * number + k) ? 1 : 0;
        }(store, peer(), i, right));
    tasks.run();
    EXPECT_EQ(right, 3 * static_cast<int>(k_sets));
    EXPECT_LE(store.report().peak, Bytes{3 * 759 + 759});
    EXPECT_EQ(store.report().beyond, 0U);
}

TEST_F(TinyBudget, goes_beyond_it_where_tasks_hold_sets_while_they_wait) {
    constexpr std::uint64_t k_tasks = 4;
    constexpr std::uint64_t k_depth = 3;
    Store store(context);
    for (std::uint64_t i = 0; i < k_tasks * k_depth; ++i)
        publish(store, {rank, i, 0}, 1000, 1);
    Tasks tasks(context);
    int right = 0;
    for (std::uint64_t i = 0; i < k_tasks; ++i)
        tasks.spawn(nested(store, peer(), i * k_depth, k_depth, right));
    tasks.run();
    EXPECT_EQ(right, static_cast<int>(k_tasks * k_depth));
    EXPECT_GT(store.report().beyond, 0U);
}

/// If no limit is set, the limit grows instead, so that thousands of tasks do not all wait until nothing moves.
TEST_F(StoreTest, holds_what_tasks_that_wait_hold_where_no_limit_is_set) {
    constexpr std::uint64_t k_tasks = 2000;
    Store store(context);
    for (std::uint64_t i = 0; i < 2 * k_tasks; ++i)
        publish(store, {rank, i, 0}, 1000, 1);
    Tasks tasks(context);
    int right = 0;
    for (std::uint64_t i = 0; i < k_tasks; ++i)
        tasks.spawn(nested(store, peer(), 2 * i, 2, right));
    tasks.run();
    EXPECT_EQ(right, 2 * static_cast<int>(k_tasks));
    EXPECT_LE(store.report().beyond, 12U);
}

TEST_F(StoreTest, retries_where_memory_for_what_arrives_is_missing) {
    Store store(context);
    for (std::uint64_t i = 0; i < 30; ++i)
        publish(store, {rank, i, 0}, 4000, 1);
    fetch::StoreState::of(store).fail_allocations(7, 25);
    Tasks tasks(context);
    int right = 0;
    for (std::uint64_t i = 0; i < 30; ++i)
        tasks.spawn(fetch_and_count(store, {{peer(), i, 0}, 4000}, right));
    tasks.run();
    EXPECT_EQ(right, 30);
    store.finish();
    EXPECT_GE(store.report().retried, 20U);
}

TEST_F(StoreTest, brings_a_set_of_more_fetches_than_may_be_on_their_way) {
#ifdef SLUICE_SIMULATED
    constexpr std::uint64_t k_fetches = 500;  // the simulator's time grows with the square of messages that wait
#else
    constexpr std::uint64_t k_fetches = 10'000;
#endif
    Store store(context);
    for (std::uint64_t i = 0; i < k_fetches; ++i)
        publish(store, {rank, i, 0}, 8, 1);
    std::vector<FetchRequest> wants;
    for (std::uint64_t i = 0; i < k_fetches; ++i)
        wants.push_back({{peer(), i, 0}, 8});
    FetchResult all;
    store.fetch_all(wants, [&](FetchResult fetched, std::exception_ptr const&) { all = std::move(fetched); });
    while (store.report().sets == 0)
        store.progress();
    ASSERT_EQ(all.size(), k_fetches);
    for (std::uint64_t i = 0; i < k_fetches; ++i)
        ASSERT_TRUE(is_right(all, i, {peer(), i, 0}, 8)) << i;
    EXPECT_LE(store.report().most_on_their_way, 4096U);
}

TEST_F(StoreTest, refuses_a_set_that_exceeds_all_memory_with_the_numbers) {
    Settings settings = Settings::from_environment();
    Store store(context);
    std::string fault;
    Tasks tasks(context);
    tasks.spawn(
        fault_of(store, {{{peer(), 1, 0}, std::uint64_t{1} << 59}, {{peer(), 2, 0}, std::uint64_t{1} << 59}}, fault));
    tasks.run();
    EXPECT_NE(fault.find("2 fetches with a total of"), std::string::npos) << fault;
    EXPECT_NE(fault.find("exceeds the memory that this process may use"), std::string::npos) << fault;
}

}  // namespace
}  // namespace sluice::tests
