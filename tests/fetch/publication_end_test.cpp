// SPDX-License-Identifier: BSD-3-Clause
/// The end of publications: when all readers have several of them, and when nothing may be published any more.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "fetch/fetch_bed.hpp"
#include "groups/nonblocking_barrier.hpp"
#include "sluice/fetch.hpp"

namespace sluice::tests {
namespace {

class PublicationEnd : public testing::Test {
  protected:
    int peer() const { return (rank + 1) % size; }
    void publish_ids(Store& store, std::uint64_t ids) const {
        for (std::uint64_t id = 0; id < ids; ++id)
            publish(store, {rank, id, 0}, 100, 1);
    }

    Context context{MPI_COMM_WORLD};
    int rank = context.rank();
    int size = context.size();
};

Task wait_for_them(Store& store, std::vector<Key> keys, int const& fetched, int& told) {
    co_await store.all_have_them(keys);
    EXPECT_EQ(fetched, 3);
    ++told;
}

/// Fetches one key after the other, each when the tasks of all ranks have counted it: an owner may learn of a fetch
/// before the task that posted it goes on.
Task fetch_one_by_one(Store& store, int owner, int& fetched) {
    for (std::uint64_t id = 0; id < 3; ++id) {
        for (int turn = 0; turn < 20; ++turn)
            co_await yielded();
        ++fetched;
        groups::NonblockingBarrier all_are_here(MPI_COMM_WORLD, 1);
        while (!all_are_here.is_passed())
            co_await yielded();
        FetchResult const got = co_await store.fetch_all(FetchRequest{{owner, id, 0}, 100});
    }
}

TEST_F(PublicationEnd, is_told_in_finish_at_the_latest) {
    Store store(context);
    publish_ids(store, 1);
    bool has_come = false;
    int called = 0;
    store.when_all_have_it({rank, 0, 0}, [&] { ++called; });
    std::vector<FetchRequest> const wants{{{peer(), 0, 0}, Bytes{100}}};
    store.fetch_all(wants, [&](FetchResult, std::exception_ptr const& error) {
        EXPECT_EQ(error, nullptr);
        has_come = true;
        store.when_all_have_it({rank, 0, 0}, [&] { ++called; });
    });
    store.wait_until([&] { return has_come; });
    store.finish();
    EXPECT_EQ(called, 2);
}

TEST_F(PublicationEnd, of_several_is_told_once_when_the_last_reader_has_the_last_one) {
    Store store(context);
    publish_ids(store, 3);
    Tasks tasks(context);
    int fetched = 0;
    int told = 0;
    int called = 0;
    std::vector<Key> const keys{{rank, 2, 0}, {rank, 0, 0}, {rank, 1, 0}, {rank, 0, 0}};
    store.when_all_have_them(keys, [&] {
        EXPECT_EQ(fetched, 3);
        ++called;
    });
    tasks.spawn(wait_for_them(store, keys, fetched, told));
    tasks.spawn(fetch_one_by_one(store, peer(), fetched));
    tasks.run();
    store.finish();
    EXPECT_EQ(told, 1);
    EXPECT_EQ(called, 1);
}

Task wait_for_nothing(Store& store, int rank, int& told) {
    co_await store.all_have_them(std::vector<Key>{});
    ++told;
    co_await store.all_have_them(Key{rank, 77, 0}, Key{rank, 78, 0});  // never published
    ++told;
    publish(store, {rank, 79, 0}, 8, 1);
    store.withdraw({rank, 79, 0});
    co_await store.all_have_them(Key{rank, 79, 0}, Key{rank, 78, 0});
    ++told;
}

TEST_F(PublicationEnd, of_none_is_told_at_once_to_a_task_and_by_the_next_look_to_a_callback) {
    Store store(context);
    Tasks tasks(context);
    int told = 0;
    tasks.spawn(wait_for_nothing(store, rank, told));
    tasks.run();
    EXPECT_EQ(told, 3);
    int called = 0;
    store.when_all_have_them(std::vector<Key>{{rank, 77, 0}}, [&] { ++called; });
    store.when_all_have_them({}, [&] { ++called; });
    EXPECT_EQ(called, 0);
    store.wait_until([&] { return called == 2; });
    EXPECT_THROW(store.when_all_have_them(std::vector<Key>{{rank, 77, 0}, {rank + 1, 77, 0}}, [&] { ++called; }),
                 Error);
    store.finish();
    EXPECT_EQ(called, 2);
}

std::string fault_of_publishing(Store& store, Key const& key, int form) {
    static std::byte const data[8]{};
    try {
        if (form == 0) store.publish(key, 8_B, [](std::span<std::byte>) {});
        if (form == 1) store.publish(key, data);
        if (form == 2) store.publish_lazily(key, 8_B, [](Store::DataSink const&) {});
    } catch (Error const& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
        return error.what();
    }
    return "";
}

TEST_F(PublicationEnd, refuses_data_of_a_closed_epoch_and_of_a_finished_store) {
    Store store(context);
    store.close(2);
    std::string const what = "rank " + std::to_string(rank) + " publishes id 5 of epoch ";
    for (int form = 0; form < 3; ++form) {
        EXPECT_EQ(fault_of_publishing(store, {rank, 5, 1}, form),
                  what + "1 (8 bytes), but it has closed the epochs up to 2");
        EXPECT_EQ(fault_of_publishing(store, {rank, 5, 2}, form),
                  what + "2 (8 bytes), but it has closed the epochs up to 2");
        EXPECT_EQ(fault_of_publishing(store, {rank, 5, 3}, form), "");
        store.withdraw({rank, 5, 3});
    }
    store.finish();
    for (int form = 0; form < 3; ++form)
        EXPECT_EQ(fault_of_publishing(store, {rank, 5, 4}, form), what + "4 (8 bytes), but it has finished");
}

}  // namespace
}  // namespace sluice::tests
