// SPDX-License-Identifier: BSD-3-Clause
/// Tasks that wait for each other for ever are an error of run(), and nothing else is: random graphs of tasks, and each
/// thing that may still end a wait.
#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "engine/context_state.hpp"
#include "sluice/fetch.hpp"
#include "sluice/paged.hpp"
#include "support/limits/full_budget.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {
namespace {

using namespace std::chrono_literals;

std::string error_of(Tasks& tasks) {
    try {
        tasks.run();
    } catch (Error const& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
        return error.what();
    }
    return {};
}

class EndlessTest : public testing::Test {
  protected:
    EndlessTest() : context(MPI_COMM_WORLD), rank(context.rank()), size(context.size()) {}
    int peer() const { return (rank + 1) % size; }
    Context context;
    int rank;
    int size;
    std::byte datum{7};
    std::span<std::byte const> data{&datum, 1};
};

Task wait_for_handle(std::vector<TaskHandle> const& handles, std::size_t which) {
    co_await handles[which];
}

Task wait_for_task(std::vector<TaskHandle> const& handles, std::size_t which) {
    co_await wait_for_handle(handles, which);
}

Task wait_for_key(Store& store, Key key) {
    co_await store.fetch_all(FetchRequest{key, 1_B});
}

TEST_F(EndlessTest, names_tasks_that_wait_for_each_other) {
    Tasks tasks(context);
    std::vector<TaskHandle> handles;
    handles.push_back(tasks.spawn(wait_for_task(handles, 1)));
    handles.push_back(tasks.spawn(wait_for_handle(handles, 0)));
    std::string const error = error_of(tasks);
    EXPECT_NE(error.find("rank " + std::to_string(rank) + " would wait for ever"), std::string::npos) << error;
    EXPECT_NE(error.find("task 0 -> task 1 -> task 0"), std::string::npos) << error;
}

TEST_F(EndlessTest, names_the_data_of_its_own_rank_that_no_task_publishes) {
    Store store(context);
    {
        Tasks tasks(context);
        std::vector<TaskHandle> handles;
        handles.push_back(tasks.spawn(wait_for_key(store, {rank, 77, 3})));
        handles.push_back(tasks.spawn(wait_for_key(store, {rank, 77, 3})));  // shares the first one's request
        handles.push_back(tasks.spawn(wait_for_handle(handles, 0)));
        std::string const error = error_of(tasks);
        std::string const key = " -> id 77 of epoch 3 of rank " + std::to_string(rank) + ", which is not published";
        EXPECT_NE(error.find("task 0" + key), std::string::npos) << error;
        EXPECT_NE(error.find("task 1" + key), std::string::npos) << error;
        EXPECT_NE(error.find("task 2 -> task 0"), std::string::npos) << error;
    }
    store.finish();
}

TEST_F(EndlessTest, names_data_that_no_task_of_the_rank_sends_to_itself) {
    Store store(context);
    {
        Tasks tasks(context);
        tasks.spawn([](Store& from, int self) -> Task {
            co_await from.receive_all(FetchRequest{{self, 5, 0}, 1_B});
        }(store, rank));
        EXPECT_NE(error_of(tasks).find("which is not sent"), std::string::npos);
    }
    store.finish();
}

TEST_F(EndlessTest, names_readers_that_cannot_come) {
    if (size > 1) return;  // those of other ranks may come
    Store store(context);
    {
        Tasks tasks(context);
        store.publish({rank, 4, 0}, data, 2);
        tasks.spawn(wait_for_key(store, {rank, 4, 0}));
        tasks.spawn([](Store& of, int self) -> Task { co_await of.all_have_it({self, 4, 0}); }(store, rank));
        EXPECT_NE(error_of(tasks).find("task 1 -> the readers of id 4 of epoch 0"), std::string::npos);
    }
    store.finish();
}

// Each case has a task that waits for data of its own rank. What publishes them is no task of the rank.

TEST_F(EndlessTest, is_not_told_while_a_time_or_a_request_may_come) {
    Store store(context);
    Tasks tasks(context);
    tasks.spawn(wait_for_key(store, {rank, 1, 0}));
    tasks.spawn(wait_for_key(store, {rank, 2, 0}));
    tasks.spawn([](Store& of, int self, std::span<std::byte const> what) -> Task {
        co_await after(5ms);
        of.publish({self, 1, 0}, what);
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        co_await completed(request);
        of.publish({self, 2, 0}, what);
    }(store, rank, data));
    EXPECT_EQ(error_of(tasks), "");
}

/// Gives a lease back when the scheduler has looked in vain so often that it has asked whether its tasks wait for ever.
class GivesBack final : public kernel::Pollable {
  public:
    GivesBack(Context& context, Lease&& lease)
        : progress_(&engine::ContextState::of(context).progress()), lease_(std::move(lease)) {
        progress_->add(*this);
    }
    ~GivesBack() { progress_->remove(*this); }
    bool poll() override {
        if (++polls_ == 1000) lease_.reset();
        return false;
    }
    void tell_endless(kernel::EndlessWaits&) override {}

  private:
    kernel::Progress* progress_;
    std::optional<Lease> lease_;
    int polls_ = 0;
};

TEST_F(EndlessTest, is_not_told_while_a_lease_may_come) {
    Store store(context);
    Budget& budget = context.budget();
    GivesBack gives_back(context, lease_all(context, 1_GiB));
    budget.when_free(100_KiB, Purpose::other, [&](Lease) { store.publish({rank, 1, 0}, data); });
    Tasks tasks(context);
    tasks.spawn(wait_for_key(store, {rank, 1, 0}));
    EXPECT_EQ(error_of(tasks), "");
    store.finish();
}

/// A rank publishes what the task of its peer fetches, after a while.
Task publish_late(Store& store, Key key, std::span<std::byte const> data) {
    co_await after(5ms);
    store.publish(key, data);
}

Task fetch_late(Store& store, Key key) {
    co_await after(5ms);
    co_await store.fetch_all(FetchRequest{key, 1_B});
}

SLUICE_NEEDS_RANKS(2, EndlessTest, is_not_told_while_data_of_another_rank_may_come);
TEST_F(EndlessTest, is_not_told_while_data_of_another_rank_may_come) {
    Store store(context);
    Tasks tasks(context);
    tasks.spawn(wait_for_key(store, {rank, 2, 0}));
    tasks.spawn([](Store& in, int self, int other, std::span<std::byte const> what) -> Task {
        if (self % 2 == 0) co_await after(5ms);
        in.publish({self, 1, 0}, what);
        co_await in.fetch_all(FetchRequest{{other, 1, 0}, 1_B});
        in.publish({self, 2, 0}, what);
    }(store, rank, peer(), data));
    EXPECT_EQ(error_of(tasks), "");
    store.finish();
}

TEST_F(EndlessTest, is_not_told_while_a_callback_may_come) {
    Store store(context);
    for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
        Tasks tasks(context);
        tasks.spawn(wait_for_key(store, {rank, 2, epoch}));
        if (epoch == 0) {
            FetchRequest const wanted[] = {{{peer(), 1, epoch}, 1_B}};
            store.fetch_all(wanted, [&](FetchResult, std::exception_ptr) { store.publish({rank, 2, epoch}, data); });
            if (size == 1 || rank % 2 == 1)
                store.publish({rank, 1, epoch}, data);
            else
                tasks.spawn(publish_late(store, {rank, 1, epoch}, data));
        } else {
            store.publish({rank, 1, epoch}, data);
            store.when_all_have_it({rank, 1, epoch}, [&, epoch] { store.publish({rank, 2, epoch}, data); });
            tasks.spawn(rank % 2 == 0 ? fetch_late(store, {peer(), 1, epoch})
                                      : wait_for_key(store, {peer(), 1, epoch}));
        }
        EXPECT_EQ(error_of(tasks), "");
    }
    store.finish();
}

SLUICE_NEEDS_RANKS(2, EndlessTest, is_not_told_while_a_reader_may_ask_for_data_that_are_packed_or_brought);
TEST_F(EndlessTest, is_not_told_while_a_reader_may_ask_for_data_that_are_packed_or_brought) {
    Store store(context);
    for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
        Tasks tasks(context);
        auto const next = [&, epoch] { store.publish({rank, 2, epoch}, data); };
        if (epoch == 0)
            store.publish({rank, 1, epoch}, 1_B, [next](std::span<std::byte>) { next(); });
        else
            store.publish_lazily({rank, 1, epoch}, 1_B, [next, this](Store::DataSink const& sink) {
                next();
                sink(data, nullptr);
            });
        if (rank % 2 == 0 && rank + 1 < size) tasks.spawn(wait_for_key(store, {rank, 2, epoch}));
        if (rank % 2 == 1) tasks.spawn(fetch_late(store, {rank - 1, 1, epoch}));
        EXPECT_EQ(error_of(tasks), "");
    }
    store.finish();
}

TEST_F(EndlessTest, is_not_told_while_blocks_may_come) {
    Store store(context);
    PagedFile file(context, 2, 4096_B);
    Tasks tasks(context);
    BlockUse const use[] = {{0, BlockAccess::update}};
    file.use(use, [&](PagedBlocks, std::exception_ptr) { store.publish({rank, 1, 0}, data); });
    tasks.spawn(wait_for_key(store, {rank, 1, 0}));
    EXPECT_EQ(error_of(tasks), "");
    store.finish();
}

// Random graphs: a task waits for other tasks and for their data, then publishes its own.

struct Wish {
    std::size_t of;
    bool by_key;
};

struct Graph {
    std::vector<std::vector<Wish>> wishes;  // by task

    static Graph made(std::minstd_rand& random, bool may_have_cycles) {
        Graph graph;
        graph.wishes.resize(1 + random() % 12);
        for (std::size_t task = 0; task < graph.wishes.size(); ++task)
            for (std::size_t i = random() % 3; i > 0; --i) {
                std::size_t const most = may_have_cycles && random() % 4 == 0 ? graph.wishes.size() : task;
                if (most > 0) graph.wishes[task].push_back({random() % most, random() % 2 == 0});
            }
        return graph;
    }
    /// The tasks that can end.
    std::set<std::size_t> ending() const {
        std::set<std::size_t> ended;
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t task = 0; task < wishes.size(); ++task) {
                bool const can = std::ranges::all_of(wishes[task], [&](Wish const& w) { return ended.contains(w.of); });
                if (can) moved |= ended.insert(task).second;
            }
        }
        return ended;
    }
    int readers_of(std::size_t task) const {
        int readers = 0;
        for (auto const& list : wishes)
            for (Wish const& wish : list)
                readers += wish.of == task && wish.by_key ? 1 : 0;
        return readers;
    }
};

Task node(Store& store, Graph const& graph, std::vector<TaskHandle> const& handles, Key mine, int other,
          std::span<std::byte const> data, std::set<std::size_t>& ended) {
    std::size_t const task = mine.id;
    if (mine.id % 3 == 0) co_await store.fetch_all(FetchRequest{{other, 1000, mine.epoch}, 1_B});
    if (mine.id % 4 == 0) co_await yielded();
    for (Wish const& wish : graph.wishes[task]) {
        if (wish.by_key)
            co_await store.fetch_all(FetchRequest{{mine.owner, wish.of, mine.epoch}, 1_B});
        else
            co_await handles[wish.of];
    }
    if (graph.readers_of(task) > 0) store.publish(mine, data, graph.readers_of(task));
    ended.insert(task);
}

TEST_F(EndlessTest, is_told_of_each_random_graph_with_a_cycle_and_of_no_other) {
    constexpr std::uint64_t k_graphs = 40;
    Store store(context);
    std::minstd_rand random(static_cast<unsigned>(17 + rank));  // the ranks have different graphs
    int with_cycle = 0;
    for (std::uint64_t epoch = 0; epoch < k_graphs; ++epoch) {
        Graph const graph = Graph::made(random, epoch % 2 == 0);
        store.publish({rank, 1000, epoch}, data, 12);
        std::set<std::size_t> ended;
        Tasks tasks(context, TaskFailure::handled);  // this rank goes on, and its peers wait for its next publications
        std::vector<TaskHandle> handles;
        for (std::size_t task = 0; task < graph.wishes.size(); ++task)
            handles.push_back(tasks.spawn(node(store, graph, handles, {rank, task, epoch}, peer(), data, ended)));
        std::string const error = error_of(tasks);
        EXPECT_EQ(ended, graph.ending());
        EXPECT_EQ(error.empty(), ended.size() == graph.wishes.size()) << error;
        with_cycle += error.empty() ? 0 : 1;
    }
    EXPECT_GT(with_cycle, 0);
    EXPECT_LT(with_cycle, static_cast<int>(k_graphs) / 2);
    store.finish();
}

}  // namespace
}  // namespace sluice::tests
