// SPDX-License-Identifier: BSD-3-Clause
/// The setting `check`: data that change between their publication and their arrival are an error on both sides.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fetch/fetch_bed.hpp"
#include "sluice/fetch.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {
namespace {

enum class Form { packed, contiguous };

/// How a cube publishes its face, and how that reaches its reader.
struct Way {
    char const* name;
    Form form;
    std::size_t bytes;
    Transport transport;
};

Settings checking(Transport transport = Transport::automatic, CheckedCalls check = CheckedCalls::data) {
    Settings settings = Settings::from_environment();
    settings.check = check;
    settings.transport = transport;
    return settings;
}

/// A cube with one face, which one other cube reads.
struct Cube {
    Key face;
    std::vector<std::byte> points;

    void publish(Store& store, Form form) {
        if (form == Form::contiguous)
            store.publish(face, points);
        else
            store.publish(face, Bytes{points.size()},
                          [this](std::span<std::byte> out) { std::ranges::copy(points, out.begin()); });
    }
    void relax(FetchResult const& ghosts) {
        for (std::size_t i = 0; i < points.size(); ++i)
            points[i] ^= ghosts[0][i] | std::byte{1};
    }
};

/// The step that is wrong with one array: it relaxes before its reader has the face, and only then lets the reader go
/// on.
Task step_in_haste(Cube& cube, Store& store, Form form, Key neighbour, int reader) {
    cube.publish(store, form);
    FetchResult const ghosts = co_await store.fetch_all(FetchRequest{neighbour, cube.points.size()});
    cube.relax(ghosts);
    MPI_Request relaxed = MPI_REQUEST_NULL;
    MPI_Isend(nullptr, 0, MPI_BYTE, reader, 1, MPI_COMM_WORLD, &relaxed);
    co_await completed(relaxed);
    co_await store.all_have_it(cube.face);
}

/// Its reader. Sets `fault` to the error that its fetch throws, or to "".
Task step_late(Cube& cube, Store& store, Form form, Key neighbour, std::string& fault) {
    cube.publish(store, form);
    MPI_Request relaxed = MPI_REQUEST_NULL;
    MPI_Irecv(nullptr, 0, MPI_BYTE, neighbour.owner, 1, MPI_COMM_WORLD, &relaxed);
    co_await completed(relaxed);
    try {
        FetchResult const ghosts = co_await store.fetch_all(FetchRequest{neighbour, cube.points.size()});
        cube.relax(ghosts);
    } catch (Error const& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
        fault = error.what();
    }
    co_await store.all_have_it(cube.face);
}

/// The same step in the safe form.
Task step_safely(Cube& cube, Store& store, Form form, Key neighbour) {
    cube.publish(store, form);
    FetchResult const ghosts = co_await store.fetch_all(FetchRequest{neighbour, cube.points.size()});
    co_await store.all_have_it(cube.face);
    cube.relax(ghosts);
}

/// Runs all tasks and finishes the store, and returns what that throws.
std::vector<std::string> run_to_the_end(Tasks& tasks, Store& store) {
    std::vector<std::string> faults;
    auto const note = [&](auto const& action) {
        try {
            action();
        } catch (Error const& error) {
            faults.emplace_back(error.what());
        }
    };
    while (tasks.alive() > 0)
        note([&] { tasks.run(); });
    note([&] { store.finish(); });
    return faults;
}

class CheckedData : public testing::TestWithParam<Way> {
  protected:
    explicit CheckedData(CheckedCalls check = CheckedCalls::data)
        : context(MPI_COMM_WORLD, checking(GetParam().transport, check)), store(context) {}
    int of(int distance) const { return (rank + size + distance) % size; }
    std::string name_of(int distance) const { return "rank " + std::to_string(of(distance)); }
    Cube cube(std::uint64_t id) const {
        Key const key{rank, id, 0};
        return {key, bytes_of(key, GetParam().bytes)};
    }

    Context context;
    int rank = context.rank();
    int size = context.size();
    Store store;
};

class UncheckedData : public CheckedData {
  protected:
    UncheckedData() : CheckedData(CheckedCalls::off) {}
};

// Each rank has a hasty cube, whose face the late cube of the rank before it reads.
TEST_P(CheckedData, that_change_before_their_reader_has_them_are_an_error_on_both_sides) {
    Cube hasty = cube(0);
    Cube late = cube(1);
    std::string fault;
    Tasks tasks(context);
    tasks.spawn(step_in_haste(hasty, store, GetParam().form, {of(1), 1, 0}, of(-1)));
    tasks.spawn(step_late(late, store, GetParam().form, {of(1), 0, 0}, fault));
    std::vector<std::string> const told = run_to_the_end(tasks, store);
    EXPECT_EQ(fault, name_of(0) + " fetches id 0 of epoch 0 from " + name_of(1) + " (" +
                         std::to_string(GetParam().bytes) + " bytes), but got other bytes than were published: " +
                         name_of(1) + " changed them before all readers had them. A task of " + name_of(1) +
                         " must await all_have_it(key) before they change, or keep two arrays (setting check)");
    if (size == 1) {
        EXPECT_TRUE(told.empty());  // its reader has been told
    } else {
        ASSERT_EQ(told.size(), 1U);
        EXPECT_EQ(told[0], name_of(0) + " has published id 0 of epoch 0, and " + name_of(-1) +
                               " got other bytes than were published: they changed before all readers had them. Await "
                               "all_have_it(key) before they change, or keep two arrays (setting check)");
    }
    EXPECT_EQ(store.report().compared, 2U);
    EXPECT_EQ(store.report().held, 0_B);
}

TEST_P(CheckedData, that_change_when_all_readers_have_them_are_right) {
    Cube one = cube(0);
    Cube other = cube(1);
    Tasks tasks(context);
    tasks.spawn(step_safely(one, store, GetParam().form, {of(1), 1, 0}));
    tasks.spawn(step_safely(other, store, GetParam().form, {of(1), 0, 0}));
    EXPECT_TRUE(run_to_the_end(tasks, store).empty());
    EXPECT_EQ(store.report().compared, 2U);
}

TEST_P(UncheckedData, are_not_compared) {
    Cube hasty = cube(0);
    Cube late = cube(1);
    std::string fault;
    Tasks tasks(context);
    tasks.spawn(step_in_haste(hasty, store, GetParam().form, {of(1), 1, 0}, of(-1)));
    tasks.spawn(step_late(late, store, GetParam().form, {of(1), 0, 0}, fault));
    EXPECT_TRUE(run_to_the_end(tasks, store).empty());
    EXPECT_EQ(fault, "");
    EXPECT_EQ(store.report().compared, 0U);
}

auto const k_ways = testing::Values(Way{"packed", Form::packed, 1'000, Transport::automatic},
                                    Way{"contiguous", Form::contiguous, 1'000, Transport::automatic},
                                    Way{"read_directly", Form::contiguous, 100'000, Transport::automatic},
                                    Way{"large_messages", Form::contiguous, 100'000, Transport::message});
auto const k_name_of_way = [](auto const& drawn) { return drawn.param.name; };
INSTANTIATE_TEST_SUITE_P(Fetch, CheckedData, k_ways, k_name_of_way);
INSTANTIATE_TEST_SUITE_P(Fetch, UncheckedData, k_ways, k_name_of_way);

class Checking : public testing::Test {
  protected:
    Context context{MPI_COMM_WORLD, checking(Transport::automatic, CheckedCalls::all)};
    int rank = context.rank();
    int size = context.size();
    int next() const { return (rank + 1) % size; }
    int before() const { return (rank + size - 1) % size; }
};

Task ignore_fault_of(Store& store, FetchRequest want, std::string& fault) {
    return fault_of(store, {want}, fault);
}

TEST_F(Checking, fails_every_set_that_shares_the_data_and_still_counts_its_readers) {
    Store store(context);
    std::vector<std::byte> data = bytes_of({rank, 0, 0}, 500);
    store.publish({rank, 0, 0}, data, 2);
    data[499] ^= std::byte{1};
    MPI_Barrier(MPI_COMM_WORLD);
    std::string first;
    std::string second;
    Tasks tasks(context);
    tasks.spawn(ignore_fault_of(store, {{next(), 0, 0}, 500}, first));
    tasks.spawn(ignore_fault_of(store, {{next(), 0, 0}, 500}, second));
    bool all_have_it = false;
    store.when_all_have_it({rank, 0, 0}, [&] { all_have_it = true; });
    run_to_the_end(tasks, store);
    EXPECT_NE(first.find("other bytes than were published"), std::string::npos) << first;
    EXPECT_NE(second.find("other bytes than were published"), std::string::npos) << second;
    EXPECT_TRUE(all_have_it);
}

Task fetch_twice(Store& store, Key key, std::vector<std::byte>& shelf, std::string& first, std::string& second) {
    std::vector<FetchRequest> const wants{{key, 64_B}};  // GCC 12 cannot compile a co_await of a braced list
    co_await fault_of(store, wants, first);
    MPI_Request all_have_it = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &all_have_it);
    co_await completed(all_have_it);
    shelf[7] ^= std::byte{1};
    MPI_Request all_have_changed_theirs = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &all_have_changed_theirs);
    co_await completed(all_have_changed_theirs);
    co_await fault_of(store, wants, second);
}

TEST_F(Checking, compares_data_from_elsewhere_with_those_that_were_brought_first) {
    Store store(context);
    std::vector<std::byte> shelf = bytes_of({rank, 3, 0}, 64);
    store.publish_lazily(
        {rank, 3, 0}, 64_B, [&](Store::DataSink const& sink) { sink(shelf, nullptr); }, 2);
    std::string first;
    std::string second;
    Tasks tasks(context);
    tasks.spawn(fetch_twice(store, {next(), 3, 0}, shelf, first, second));
    std::vector<std::string> const told = run_to_the_end(tasks, store);
    EXPECT_EQ(first, "");
    EXPECT_NE(second.find("other bytes than were published"), std::string::npos) << second;
    EXPECT_EQ(told.size(), size == 1 ? 0U : 1U);
}

TEST_F(Checking, packs_once_more_and_leaves_a_packer_that_throws_to_its_reader) {
    Store store(context);
    int packed = 0;
    store.publish({rank, 0, 0}, 8_B, [&](std::span<std::byte> out) {
        ++packed;
        std::ranges::fill(out, std::byte{5});
    });
    EXPECT_EQ(packed, 1);
    store.publish({rank, 1, 0}, 8_B, [](std::span<std::byte>) { throw std::runtime_error("no pencil"); });
    std::string right;
    std::string threw;
    Tasks tasks(context);
    tasks.spawn(ignore_fault_of(store, {{next(), 0, 0}, 8}, right));
    tasks.spawn(ignore_fault_of(store, {{next(), 1, 0}, 8}, threw));
    EXPECT_TRUE(run_to_the_end(tasks, store).empty());
    EXPECT_EQ(packed, 2);
    EXPECT_EQ(right, "");
    EXPECT_NE(threw.find("no pencil"), std::string::npos) << threw;
    EXPECT_EQ(store.report().held, 0_B);
}

Task receive(Store& store, std::vector<FetchRequest> wants, int& right) {
    FetchResult const got = co_await store.receive_all(wants);
    for (std::size_t i = 0; i < wants.size(); ++i)
        right += is_right(got, i, wants[i].key, wants[i].bytes.count) ? 1 : 0;
}

TEST_F(Checking, compares_what_is_sent_with_control_and_without) {
    for (Switch const control : {Switch::on, Switch::off}) {
        Settings settings = checking();
        settings.send_control = control;
        Context sending(MPI_COMM_WORLD, settings);
        Store store(sending);
        std::vector<FetchRequest> wants;
        for (std::uint64_t id = 0; id < 3; ++id) {
            std::uint64_t const bytes = id * 40'000;
            store.send(next(), {rank, id, 0}, bytes_of({rank, id, 0}, bytes));
            store.send(rank, {rank, id, 1}, bytes_of({rank, id, 1}, bytes));
            wants.push_back({{before(), id, 0}, Bytes{bytes}});
            wants.push_back({{rank, id, 1}, Bytes{bytes}});
        }
        int right = 0;
        Tasks tasks(sending);
        tasks.spawn(receive(store, wants, right));
        EXPECT_TRUE(run_to_the_end(tasks, store).empty());
        EXPECT_EQ(right, 6);
        EXPECT_EQ(store.report().compared, 6U);
    }
}

SLUICE_NEEDS_RANKS(2, CheckedRanks, have_one_setting);
TEST(CheckedRanks, have_one_setting) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Settings settings = Settings::from_environment();
    settings.check = rank == 0 ? CheckedCalls::data : CheckedCalls::off;
    std::string fault;
    try {
        Context const context(MPI_COMM_WORLD, settings);
    } catch (Error const& error) {
        fault = error.what();
    }
    EXPECT_NE(fault.find("setting check (SLUICE_CHECK)"), std::string::npos) << fault;
}

}  // namespace
}  // namespace sluice::tests
