// SPDX-License-Identifier: BSD-3-Clause
/// The send-based scheme on a few keys, controlled and not: every order of its steps, and the memory that it holds.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "fetch/sending/sending_fixture.hpp"
#include "fetch/store_state.hpp"

namespace sluice::tests {
namespace {

TEST_P(SendingTest, brings_data_of_every_size_from_every_rank_to_every_rank) {
    std::vector<std::uint64_t> const sizes{0, 1, 8, 63, 1024, 1025, 4096, 5000, 65'536, 300'001};
    for (bool const ask : {false, true}) {
        Store store(context);
        for (int reader = 0; reader < size; ++reader)
            for (std::uint64_t i = 0; i < sizes.size(); ++i)
                send(store, reader, {rank, i, 5}, sizes[i]);
        std::vector<FetchRequest> wants;
        for (int owner = 0; owner < size; ++owner)
            for (std::uint64_t i = 0; i < sizes.size(); ++i)
                wants.push_back({{owner, i, 5}, ask ? FetchRequest::k_any : Bytes{sizes[i]}});
        Tasks tasks(context);
        int right = 0;
        tasks.spawn(
            [](Store& from, std::vector<FetchRequest> all, std::vector<std::uint64_t> bytes, int& count) -> Task {
                FetchResult const got = co_await from.receive_all(all);
                for (std::size_t i = 0; i < got.size(); ++i)
                    count += is_right(got, i, all[i].key, bytes[i % bytes.size()]) ? 1 : 0;
            }(store, wants, sizes, right));
        tasks.run();
        EXPECT_EQ(right, size * static_cast<int>(sizes.size()));
        store.finish();
        StoreReport const report = store.report();
        EXPECT_EQ(report.held, 0_B);
        EXPECT_EQ(report.sent, wants.size());
        EXPECT_EQ(report.received, wants.size());
        EXPECT_EQ(report.sent_bytes, report.received_bytes);
        EXPECT_EQ(report.fetched + report.fetched_here + report.served, 0U);
    }
}

Task send_later(Store& store, int reader, Key key, std::uint64_t bytes) {
    co_await after(std::chrono::milliseconds(40));  // the reader has asked for it by then
    send(store, reader, key, bytes);
}

TEST_P(SendingTest, brings_what_is_waited_for_before_it_is_sent) {
    Store store(context);
    Tasks tasks(context);
    int right = 0;
    for (std::uint64_t i = 0; i < 4; ++i)
        tasks.spawn(receive_one(store, {{source(), i, 0}, i % 2 == 0 ? Bytes{5000 * i} : FetchRequest::k_any}, right));
    for (std::uint64_t i = 0; i < 4; ++i)
        tasks.spawn(send_later(store, peer(), {rank, i, 0}, 5000 * i));
    tasks.run();
    EXPECT_EQ(right, 4);
    store.finish();
    EXPECT_EQ(store.report().unexpected, 0_B);
}

TEST_P(SendingTest, has_copied_the_bytes_when_it_returns) {
    std::vector<std::byte> data = bytes_of({rank, 9, 0}, 100'000);
    Store store(context);
    store.send(peer(), {rank, 9, 0}, data);
    std::fill(data.begin(), data.end(), std::byte{0});
    Tasks tasks(context);
    int right = 0;
    tasks.spawn(receive_one(store, {{source(), 9, 0}, 100'000}, right));
    tasks.run();
    EXPECT_EQ(right, 1);
}

TEST_P(SendingTest, brings_thousands_over_several_epochs_in_whatever_order_they_are_received) {
#ifdef SLUICE_SIMULATED
    constexpr std::uint64_t k_messages = 100;  // the simulator's time grows with the square of messages that wait
#else
    constexpr std::uint64_t k_messages = 3000;
#endif
    Store store(context);
    Tasks tasks(context);
    int right = 0;
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
        for (std::uint64_t i = 0; i < k_messages; ++i)
            send(store, peer(), {rank, i, epoch}, i % 50);
        for (std::uint64_t i = k_messages; i-- > 0;)
            tasks.spawn(receive_one(store, {{source(), i, epoch}, i % 50}, right));
        tasks.run();
        store.close(epoch);
    }
    EXPECT_EQ(right, static_cast<int>(3 * k_messages));
}

TEST_P(SendingTest, shares_a_store_with_what_is_fetched_even_under_the_same_key) {
    std::vector<std::byte> const published = bytes_of({rank, 2, 1}, 3000);
    Store store(context);
    store.publish({rank, 1, 1}, published);
    send(store, peer(), {rank, 1, 1}, 2000);
    Tasks tasks(context);
    int right = 0;
    tasks.spawn(receive_one(store, {{source(), 1, 1}, 2000}, right));
    tasks.spawn([](Store& from, int owner, int& count) -> Task {
        FetchResult const got = co_await from.fetch_all(FetchRequest{{owner, 1, 1}, 3000});
        count += is_right(got, 0, {owner, 2, 1}, 3000) ? 1 : 0;
    }(store, source(), right));
    tasks.run();
    EXPECT_EQ(right, 2);
}

TEST_P(SendingTest, calls_back_who_may_call_the_store) {
    Store store(context);
    int right = 0;
    constexpr std::uint64_t k_hops = 10;
    // A message goes round the ranks: the rank that receives it sends the next.
    std::function<void(std::uint64_t)> const receive = [&](std::uint64_t hop) {
        Key const key{source(), hop, 0};
        store.receive_all(std::vector<FetchRequest>{{key, 500 * hop}},
                          [&, key, hop](FetchResult const& got, std::exception_ptr const& error) {
                              ASSERT_EQ(error, nullptr);
                              right += is_right(got, 0, key, 500 * hop) ? 1 : 0;
                              if (hop + 1 == k_hops) return;
                              send(store, peer(), {rank, hop + 1, 0}, 500 * (hop + 1));
                              receive(hop + 1);
                          });
    };
    receive(0);
    send(store, peer(), {rank, 0, 0}, 0);
    while (store.report().sets < k_hops)
        store.progress();
    EXPECT_EQ(right, static_cast<int>(k_hops));
}

TEST_P(SendingTest, drops_what_nobody_receives) {
    Store store(context);
    for (std::uint64_t i = 0; i < 20; ++i)
        send(store, peer(), {rank, i, 0}, i * 3000);
    Tasks tasks(context);
    int right = 0;
    tasks.spawn(receive_one(store, {{source(), 7, 0}, 21'000}, right));
    tasks.run();
    store.finish();
    EXPECT_EQ(right, 1);
    EXPECT_EQ(store.report().held, 0_B);
}

TEST_P(SendingTest, takes_the_place_of_a_task_that_is_gone) {
    Store store(context);
    {
        Tasks tasks(context);
        int right = 0;
        tasks.spawn(receive_one(store, {{source(), 1, 0}, 3000}, right));
        tasks.spawn([]() -> Task {
            co_await yielded();
            throw std::runtime_error("enough");
        }());
        EXPECT_THROW(tasks.run(), std::runtime_error);
        EXPECT_EQ(right, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);  // all tasks have ended
    send(store, peer(), {rank, 1, 0}, 3000);
    store.finish();  // the data that it waited for arrive and are dropped
    // A receiver that waits for 10 ms asks for the data, and learns that a task of the sender has thrown: then they
    // arrive unexpected.
    EXPECT_LE(store.report().received, 1U);
    EXPECT_EQ(store.report().held, 0_B);
}

// --- memory ---

constexpr std::uint64_t k_face = 10'000;
constexpr std::uint64_t k_faces = 40;

Settings of_few_faces() {
    Settings settings = Settings::from_environment();
    settings.fetch_memory = Bytes{6 * k_face};
    return settings;
}

class SendingMemory : public SendingTest {
  protected:
    SendingMemory() : SendingTest(of_few_faces()) {}
};

Task receive_and_hold(Store& store, int owner, std::uint64_t id, int& right) {
    FetchResult const got = co_await store.receive_all(FetchRequest{{owner, id, 0}, k_face});
    right += is_right(got, 0, {owner, id, 0}, k_face) ? 1 : 0;
    co_await yielded();
}

TEST_P(SendingMemory, is_bounded_by_tokens_at_the_reader_where_it_is_controlled_and_by_nothing_otherwise) {
    Store store(context);
    for (std::uint64_t i = 0; i < k_faces; ++i)
        send(store, peer(), {rank, i, 0}, k_face);
    Bytes const all{k_faces * k_face};
    if (is_controlled()) {
        EXPECT_EQ(store.report().held, all);  // the sender has packed all of it
    } else {
        while (store.report().uncontrolled_peak < all)  // the reader's runtime buffers all of it, though no task waits
            store.progress();
    }
    Tasks tasks(context);
    int right = 0;
    for (std::uint64_t i = 0; i < k_faces; ++i)
        tasks.spawn(receive_and_hold(store, source(), i, right));
    tasks.run();
    EXPECT_EQ(right, static_cast<int>(k_faces));
    store.finish();
    StoreReport const report = store.report();
    Bytes const under_tokens = report.peak - report.packed_peak - report.uncontrolled_peak;
    EXPECT_EQ(report.held, 0_B);
    EXPECT_EQ(report.uncontrolled_peak, is_controlled() ? 0_B : all);
    EXPECT_EQ(report.unexpected, is_controlled() ? 0_B : all);
    EXPECT_EQ(report.beyond, 0U);
    if (is_controlled()) {
        EXPECT_EQ(report.packed_peak, all);
        EXPECT_GE(under_tokens, Bytes{k_face});
        EXPECT_LE(under_tokens, Bytes{3 * k_face});  // the half of the tokens that is for data that already exist
    } else {
        EXPECT_EQ(under_tokens, 0_B);
    }
}

TEST_P(SendingMemory, grants_a_set_that_is_larger_than_all_tokens) {
    Store store(context);
    std::vector<FetchRequest> wants;
    for (std::uint64_t i = 0; i < k_faces; ++i) {
        send(store, peer(), {rank, i, 0}, k_face);
        wants.push_back({{source(), i, 0}, k_face});
    }
    FetchResult all;
    store.receive_all(wants, [&](FetchResult got, std::exception_ptr const&) { all = std::move(got); });
    while (store.report().sets == 0)
        store.progress();
    ASSERT_EQ(all.size(), k_faces);
    for (std::uint64_t i = 0; i < k_faces; ++i)
        EXPECT_TRUE(is_right(all, i, wants[i].key, k_face));
}

TEST_P(SendingMemory, goes_beyond_it_where_tasks_hold_sets_while_they_wait) {
    constexpr std::uint64_t k_tasks = 12;
    Store store(context);
    for (std::uint64_t i = 0; i < 2 * k_tasks; ++i)
        send(store, peer(), {rank, i, 0}, k_face);
    Tasks tasks(context);
    int right = 0;
    for (std::uint64_t i = 0; i < k_tasks; ++i)
        tasks.spawn([](Store& from, int owner, std::uint64_t id, int& count) -> Task {
            FetchResult const first = co_await from.receive_all(FetchRequest{{owner, 2 * id, 0}, k_face});
            FetchResult const second = co_await from.receive_all(FetchRequest{{owner, 2 * id + 1, 0}, k_face});
            count += is_right(first, 0, {owner, 2 * id, 0}, k_face) ? 1 : 0;
            count += is_right(second, 0, {owner, 2 * id + 1, 0}, k_face) ? 1 : 0;
        }(store, source(), i, right));
    tasks.run();
    EXPECT_EQ(right, static_cast<int>(2 * k_tasks));
    EXPECT_EQ(store.report().beyond > 0, is_controlled());
}

TEST_P(SendingTest, retries_where_memory_for_what_arrives_is_missing) {
    Store store(context);
    for (std::uint64_t i = 0; i < 30; ++i)
        send(store, peer(), {rank, i, 0}, 4000);
    fetch::StoreState::of(store).fail_allocations(7, 25);
    Tasks tasks(context);
    int right = 0;
    for (std::uint64_t i = 0; i < 30; ++i)
        tasks.spawn(receive_one(store, {{source(), i, 0}, 4000}, right));
    tasks.run();
    EXPECT_EQ(right, 30);
    store.finish();
    EXPECT_EQ(store.report().retried, size > 1 ? 25U : 0U);
}

INSTANTIATE_TEST_SUITE_P(Fetch, SendingTest, k_controls, k_names);
INSTANTIATE_TEST_SUITE_P(Fetch, SendingMemory, k_controls, k_names);

}  // namespace
}  // namespace sluice::tests
