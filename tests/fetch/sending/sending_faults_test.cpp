// SPDX-License-Identifier: BSD-3-Clause
/// The send-based scheme: every kind of wrong use.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fetch/sending/sending_fixture.hpp"
#include "fetch/store_state.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {
namespace {

class SendingFault : public SendingTest {};

TEST_P(SendingFault, refuses_what_cannot_be_sent_and_sends_nothing_then) {
    Store store(context);
    auto const sending = [&](int reader, Key const& key, std::uint64_t bytes) {
        return error_of([&] { send(store, reader, key, bytes); });
    };
    std::string const text = sending(size, {rank, 1, 0}, 10);
    EXPECT_EQ(text, me() + " sends id 1 of epoch 0 (10 bytes) to rank " + std::to_string(size) +
                        ", but the context has ranks 0 to " + std::to_string(size - 1));
    EXPECT_TRUE(has(sending(-1, {rank, 1, 0}, 10), "to rank -1, but"));
    EXPECT_TRUE(has(sending(0, {rank + 1, 1, 0}, 10), "the key belongs to another rank"));
    EXPECT_TRUE(has(sending(0, {rank, 1, 0}, std::uint64_t{1} << 59), "no memory for its"));
    EXPECT_THROW(store.send(0, {rank, 1, 0}, 8_B, [](std::span<std::byte>) { throw std::runtime_error("no pencil"); }),
                 std::runtime_error);
    store.close(3);
    EXPECT_TRUE(has(sending(0, {rank, 1, 3}, 8), "but it has closed the epochs up to 3"));
    EXPECT_EQ(store.report().sent, 0U);
    EXPECT_EQ(store.report().held, 0_B);
    send(store, peer(), {rank, 1, 4}, 8);
    int right = 0;
    Tasks tasks(context);
    tasks.spawn(receive_one(store, {{source(), 1, 4}, 8}, right));
    tasks.run();
    EXPECT_EQ(right, 1);
    store.finish();
    EXPECT_TRUE(has(sending(0, {rank, 1, 5}, 8), "but it has finished"));
}

TEST_P(SendingFault, names_both_sides_where_a_receive_is_wrong) {
    Store store(context);
    send(store, peer(), {rank, 1, 0}, 64);
    send(store, peer(), {rank, 2, 0}, 64);
    Tasks tasks(context);
    std::string wrong_size;
    std::string never;
    std::string no_rank;
    tasks.spawn(fault_of_receive(store, {{{source(), 1, 0}, 65}}, wrong_size));
    tasks.spawn(fault_of_receive(store, {{{source(), 2, 0}, 64}, {{source(), 99, 2}, 64}}, never));
    tasks.spawn(fault_of_receive(store, {{{size, 1, 0}, 64}}, no_rank));
    store.close(2);
    tasks.run();
    EXPECT_EQ(wrong_size,
              me() + " receives id 1 of epoch 0 from " + it() + " (65 bytes); " + it() + " says: it has sent 64 bytes");
    EXPECT_EQ(never, me() + " receives id 99 of epoch 2 from " + it() + " (64 bytes); " + it() +
                         " says: it has not sent the data, and has closed the epochs up to 2");
    EXPECT_TRUE(has(no_rank, "the context has ranks 0 to " + std::to_string(size - 1))) << no_rank;
    // The data that these sets would have received still exist.
    int right = 0;
    tasks.spawn(receive_one(store, {{source(), 1, 0}, 64}, right));
    tasks.spawn(receive_one(store, {{source(), 2, 0}, FetchRequest::k_any}, right));
    tasks.run();
    EXPECT_EQ(right, 2);
}

TEST_P(SendingFault, tells_who_waits_when_an_epoch_is_closed_or_the_store_finished) {
    Store store(context);
    Tasks tasks(context);
    std::string closed;
    tasks.spawn(fault_of_receive(store, {{{source(), 5, 1}, FetchRequest::k_any}}, closed));
    tasks.spawn([](Store& of) -> Task {
        co_await after(std::chrono::milliseconds(40));  // the reader has requested the data by then
        of.close(1);
    }(store));
    tasks.run();
    EXPECT_TRUE(has(closed, me() + " receives id 5 of epoch 1 from " + it())) << closed;
    EXPECT_TRUE(has(closed, "it has not sent the data, and has closed the epochs up to 1")) << closed;

    std::string finished;
    store.receive_all(std::vector<FetchRequest>{{{source(), 6, 9}, 10}},
                      [&](FetchResult const&, std::exception_ptr const& error) {
                          ASSERT_NE(error, nullptr);
                          finished = error_of([&] { std::rethrow_exception(error); });
                      });
    store.finish();
    EXPECT_TRUE(has(finished, "it has not sent the data, and has finished")) << finished;
}

TEST_P(SendingFault, tells_who_receives_twice) {
    Store store(context);
    Tasks tasks(context);
    int right = 0;
    std::string second;
    std::string same_set;
    std::string again;
    tasks.spawn(receive_one(store, {{source(), 1, 0}, 100}, right));
    tasks.spawn(fault_of_receive(store, {{{source(), 2, 0}, 100}, {{source(), 1, 0}, 100}}, second));
    tasks.spawn(fault_of_receive(store, {{{source(), 3, 0}, 100}, {{source(), 3, 0}, 100}}, same_set));
    tasks.spawn([](Store& to, int reader, int owner) -> Task {
        co_await wait_for_all();  // all ranks have posted the sends and receives above
        for (std::uint64_t i = 1; i <= 3; ++i)
            send(to, reader, {owner, i, 0}, 100);
    }(store, peer(), rank));
    tasks.run();
    EXPECT_EQ(right, 1);
    EXPECT_TRUE(has(second, me() + " receives id 1 of epoch 0 from " + it() + " twice")) << second;
    EXPECT_TRUE(has(same_set, me() + " receives id 3 of epoch 0 from " + it() + " twice")) << same_set;
    // The other data of these sets can be received as if there had been no error.
    tasks.spawn(receive_one(store, {{source(), 2, 0}, 100}, right));
    tasks.spawn(receive_one(store, {{source(), 3, 0}, 100}, right));
    tasks.spawn(fault_of_receive(store, {{{source(), 1, 0}, 100}}, again));
    tasks.run();
    EXPECT_EQ(right, 3);
    EXPECT_TRUE(has(again, "have been received")) << again;
}

SLUICE_NEEDS_RANKS(2, SendingFault, tells_who_receives_twice_although_its_first_question_crossed_the_data);

TEST_P(SendingFault, tells_who_receives_twice_although_its_first_question_crossed_the_data) {
    Store store(context);
    int token = 0;
    auto const receive = [&](int& count, std::string& fault) {
        store.receive_all(std::vector<FetchRequest>{{{0, 1, 0}, 100}},
                          [&](FetchResult const&, std::exception_ptr const& error) {
                              ++count;
                              if (error) fault = error_of([&] { std::rethrow_exception(error); });
                          });
    };
    int done = 0;
    std::string first;
    std::string again;
    if (rank == 1) receive(done, first);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(60));  // the reader asks whether the data will come
        send(store, 1, {0, 1, 0}, 100);
        MPI_Request got = MPI_REQUEST_NULL;
        MPI_Irecv(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &got);
        store.wait_until([&] {
            int over = 0;
            MPI_Test(&got, &over, MPI_STATUS_IGNORE);
            return over != 0;
        });
    } else if (rank == 1) {
        store.wait_until([&] { return done == 1; });
        auto const answered = std::chrono::steady_clock::now() + std::chrono::milliseconds(40);
        store.wait_until([&] { return std::chrono::steady_clock::now() > answered; });
        receive(done, again);
        MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        for (int i = 0; i < 60; ++i) {  // the sender finishes, and MPI gets what it tells this rank
            int here = 0;
            MPI_Iprobe(0, 1, MPI_COMM_WORLD, &here, MPI_STATUS_IGNORE);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        store.wait_until([&] { return done == 2; });
        EXPECT_EQ(first, "");
        EXPECT_TRUE(has(again, "have been received")) << again;
    }
    store.finish();
}

TEST_P(SendingFault, tells_who_sends_twice) {
    Store store(context);
    send(store, peer(), {rank, 1, 0}, 100);
    if (is_controlled()) {
        std::string const twice = error_of([&] { send(store, peer(), {rank, 1, 0}, 100); });
        EXPECT_TRUE(has(twice, "it has already sent these data, which were not taken")) << twice;
    } else {
        send(store, peer(), {rank, 1, 0}, 100);  // this has left, so only the reader can detect the error
    }
    send(store, peer(), {rank, 2, 0}, 100);
    Tasks tasks(context);
    int right = 0;
    tasks.spawn(receive_one(store, {{source(), 2, 0}, 100}, right));  // arrives after both
    tasks.run();
    std::string fault;
    if (is_controlled())
        tasks.spawn(receive_one(store, {{source(), 1, 0}, 100}, right));
    else
        tasks.spawn(fault_of_receive(store, {{{source(), 1, 0}, 100}}, fault));
    tasks.run();
    EXPECT_EQ(right, is_controlled() ? 2 : 1);
    EXPECT_EQ(has(fault, "it has sent these data twice"), !is_controlled()) << fault;
    store.finish();
    EXPECT_EQ(store.report().held, 0_B);
}

TEST_P(SendingFault, throws_where_memory_for_what_is_sent_is_missing) {
    Store store(context);
    fetch::StoreState::of(store).fail_allocations(0, 1);
    std::string const fault = error_of([&] { send(store, peer(), {rank, 1, 0}, 4000); });
    EXPECT_TRUE(has(fault, "no memory for its")) << fault;
    EXPECT_EQ(store.report().sent, 0U);
    send(store, peer(), {rank, 1, 0}, 4000);
    Tasks tasks(context);
    int right = 0;
    tasks.spawn(receive_one(store, {{source(), 1, 0}, 4000}, right));
    tasks.run();
    EXPECT_EQ(right, 1);
}

Settings of_one_mib() {
    Settings settings = Settings::from_environment();
    settings.memory = 1_MiB;
    return settings;
}

class SendingLimit : public SendingTest {
  protected:
    SendingLimit() : SendingTest(of_one_mib()) {}
};

TEST_P(SendingLimit, refuses_a_set_that_exceeds_all_memory_and_brings_it_in_parts) {
    Store store(context);
    send(store, peer(), {rank, 1, 0}, 700'000);
    send(store, peer(), {rank, 2, 0}, 700'000);
    std::string fault;
    Tasks tasks(context);
    tasks.spawn(fault_of_receive(
        store, {{{source(), 1, 0}, FetchRequest::k_any}, {{source(), 2, 0}, FetchRequest::k_any}}, fault));
    tasks.run();
    EXPECT_TRUE(has(fault, "2 fetches with a total of")) << fault;
    EXPECT_TRUE(has(fault, "exceeds the memory that this process may use")) << fault;
    int right = 0;
    tasks.spawn(receive_one(store, {{source(), 1, 0}, 700'000}, right));
    tasks.spawn(receive_one(store, {{source(), 2, 0}, 700'000}, right));
    tasks.spawn(wait_for_all());
    tasks.run();
    EXPECT_EQ(right, 2);
}

INSTANTIATE_TEST_SUITE_P(Fetch, SendingFault, k_controls, k_names);
INSTANTIATE_TEST_SUITE_P(Fetch, SendingLimit, k_controls, k_names);

}  // namespace
}  // namespace sluice::tests
