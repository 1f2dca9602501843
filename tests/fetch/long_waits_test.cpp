// SPDX-License-Identifier: BSD-3-Clause
/// A rank that waits long says for what, and readers learn that a task of the owner threw.
#include "fetch/long_waits.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "fetch/fetch_bed.hpp"
#include "fetch/store_state.hpp"
#include "kernel/files/standard_error.hpp"
#include "sluice/fetch.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {
namespace {

using namespace std::string_literals;

class LongWaitsTest : public testing::Test {
  protected:
    LongWaitsTest() : context(MPI_COMM_WORLD), rank(context.rank()), size(context.size()), store(context) {}
    fetch::LongWaits& waits() { return fetch::StoreState::of(store).waits(); }
    /// Fetches without a task and counts the data as they come.
    void fetch(Key const& key) {
        FetchRequest const wanted[] = {{key, 1_B}};
        store.fetch_all(wanted, [this](FetchResult, std::exception_ptr) { ++here; });
    }
    /// Waits on rank 0 until it has printed a line, and returns the line. The other ranks serve meanwhile.
    std::string line_of_rank_0() {
        Key const over{0, 1000, epoch++};
        std::string line;
        int const before = here;
        if (rank == 0) {
            testing::internal::CaptureStderr();
            kernel::remember_standard_error();
            std::uint64_t const lines = waits().lines();
            waits().tell_after(0.02);
            store.wait_until([&] { return waits().lines() > lines; });
            line = testing::internal::GetCapturedStderr();
            kernel::remember_standard_error();
            if (size > 1) store.publish(over, data, size - 1);
        } else {
            fetch(over);
            store.wait_until([&] { return here > before; });
        }
        return line;
    }
    void expect(std::string const& line, std::string const& from, std::string const& to) const {
        if (rank != 0) return;
        EXPECT_EQ(line.find("sluice: rank 0 has waited " + from), 0U) << line;
        EXPECT_NE(line.find(to + "\n"), std::string::npos) << line;
        EXPECT_EQ(line.find('\n') + 1, line.size()) << line;
    }

    Context context;
    int rank;
    int size;
    Store store;
    std::byte datum{7};
    std::span<std::byte const> data{&datum, 1};
    int here = 0;
    std::uint64_t epoch = 0;
};

TEST_F(LongWaitsTest, names_data_that_their_owner_has_not_published) {
    int const owner = size > 1 ? 1 : 0;
    Key const key{owner, 77, 0};
    if (rank == 0) fetch(key);
    expect(line_of_rank_0(), "",
           " s for id 77 of epoch 0 of rank " + std::to_string(owner) + ", which has not published it");
    if (rank == owner) store.publish(key, data);
    store.finish();
    EXPECT_TRUE(rank != 0 || here == 1) << here;
}

TEST_F(LongWaitsTest, names_data_that_are_not_sent) {
    int const owner = size > 1 ? 1 : 0;
    Key const key{owner, 7, 0};
    FetchRequest const wanted[] = {{key, 1_B}};
    if (rank == 0) store.receive_all(wanted, [this](FetchResult, std::exception_ptr) { ++here; });
    expect(line_of_rank_0(), "", " s for id 7 of epoch 0 of rank " + std::to_string(owner) + ", which has not sent it");
    if (rank == owner) store.send(0, key, data);
    store.finish();
    EXPECT_TRUE(rank != 0 || here == 1) << here;
}

TEST_F(LongWaitsTest, counts_the_readers_that_have_the_data) {
    Key const key{0, 5, 0};
    if (rank == 0) {
        store.publish(key, data, 2);
        fetch(key);
        store.wait_until([&] { return here == 1; });
        store.when_all_have_it(key, [this] { ++here; });
    }
    expect(line_of_rank_0(), "", " s for the readers of id 5 of epoch 0 of rank 0: 1 of 2 have it");
    if (rank == 0) fetch(key);
    store.finish();
    EXPECT_TRUE(rank != 0 || here == 3) << here;
}

TEST_F(LongWaitsTest, are_told_once) {
    if (rank == 0) fetch({0, 1, 0});
    static_cast<void>(line_of_rank_0());
    if (rank == 0) {
        for (int i = 0; i < 5000; ++i)
            store.progress();
        EXPECT_EQ(waits().lines(), 1U);
        store.publish({0, 1, 0}, data);
        fetch({0, 2, 0});
    }
    expect(line_of_rank_0(), "", " s for id 2 of epoch 0 of rank 0, which has not published it");
    if (rank == 0) store.publish({0, 2, 0}, data);
    store.finish();
}

TEST_F(LongWaitsTest, may_differ_between_ranks) {
    Settings settings = Settings::from_environment();
    settings.waiting_told_after = static_cast<std::uint64_t>(rank);
    Context const other(MPI_COMM_WORLD, settings);
    EXPECT_EQ(other.settings().waiting_told_after, static_cast<std::uint64_t>(rank));
    store.finish();
}

Task throw_now() {
    co_await yielded();
    throw std::runtime_error("no more memory for face 3");
}

Task receive(Store& store, Key key, std::string& fault) {
    try {
        co_await store.receive_all(FetchRequest{key, 1_B});
    } catch (Error const& error) {
        fault = error.what();
    }
}

SLUICE_NEEDS_RANKS(2, LongWaitsTest, tell_readers_that_a_task_of_the_owner_threw);
TEST_F(LongWaitsTest, tell_readers_that_a_task_of_the_owner_threw) {
    Tasks tasks(context);
    if (rank == 0) {
        tasks.spawn(throw_now());
        EXPECT_THROW(tasks.run(), std::runtime_error);
    } else {
        std::string fetched;
        std::string received;
        tasks.spawn(fault_of(store, {{{0, 9, 0}, 1_B}}, fetched));
        tasks.spawn(receive(store, {0, 10, 0}, received));
        tasks.run();
        std::string const reader = "rank " + std::to_string(rank);
        for (std::string const& text :
             {"; rank 0 says: "s, "a task there threw an exception: no more memory for face 3"s}) {
            EXPECT_NE(fetched.find(text), std::string::npos) << fetched;
            EXPECT_NE(received.find(text), std::string::npos) << received;
        }
        EXPECT_NE(fetched.find(reader + " fetches id 9"), std::string::npos) << fetched;
        EXPECT_NE(received.find(reader + " receives id 10"), std::string::npos) << received;
    }
    store.finish();
}

Task publish_both(Store& store, std::span<std::byte const> data, int readers) {
    store.publish({0, 1, 0}, data, readers);
    co_await after(std::chrono::milliseconds(5));
    store.publish({0, 2, 0}, data, readers);
}

Task fetch_both(Store& store) {
    co_await store.fetch_all(FetchRequest{{0, 1, 0}, 1_B});
    co_await store.fetch_all(FetchRequest{{0, 2, 0}, 1_B});
}

SLUICE_NEEDS_RANKS(2, LongWaitsTest, let_readers_wait_again_when_the_owner_goes_on);
TEST_F(LongWaitsTest, let_readers_wait_again_when_the_owner_goes_on) {
    Tasks tasks(context);
    if (rank == 0) {
        tasks.spawn(throw_now());
        EXPECT_THROW(tasks.run(), std::runtime_error);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    tasks.spawn(rank == 0 ? publish_both(store, data, size - 1) : fetch_both(store));
    EXPECT_NO_THROW(tasks.run());
    store.finish();
}

SLUICE_NEEDS_RANKS(2, LongWaitsTest, let_readers_wait_for_an_owner_that_handles_its_exceptions);
TEST_F(LongWaitsTest, let_readers_wait_for_an_owner_that_handles_its_exceptions) {
    Tasks tasks(context, TaskFailure::handled);
    if (rank == 0) {
        store.publish({0, 1, 0}, data, size - 1);
        bool asked = false;  // they have data 1 and so will ask for data 2
        store.when_all_have_it({0, 1, 0}, [&] { asked = true; });
        store.wait_until([&] { return asked && store.report().early >= static_cast<std::uint64_t>(size - 1); });
        tasks.spawn(throw_now());
        EXPECT_THROW(tasks.run(), std::runtime_error);
        store.publish({0, 2, 0}, data, size - 1);
    } else {
        tasks.spawn(fetch_both(store));
        EXPECT_NO_THROW(tasks.run());
    }
    store.finish();
}

}  // namespace
}  // namespace sluice::tests
