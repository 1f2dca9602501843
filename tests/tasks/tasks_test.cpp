// SPDX-License-Identifier: BSD-3-Clause
/// Tasks by themselves: order, results of other tasks, requests, time, errors, and costs.
#include "sluice/tasks.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "mpi/mpi.hpp"

namespace sluice::tests {
namespace {

using namespace std::chrono_literals;

Task append(std::vector<int>& to, int value, int turns = 1) {
    for (int i = 0; i < turns; ++i) {
        to.push_back(value);
        co_await yielded();
    }
}

TEST(Tasks, run_in_the_order_in_which_they_were_spawned_and_take_turns) {
    Context context(MPI_COMM_WORLD);
    Tasks tasks(context);
    std::vector<int> order;
    for (int i = 0; i < 3; ++i)
        tasks.spawn(append(order, i, 2));
    tasks.run();
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 0, 1, 2}));
    EXPECT_EQ(tasks.alive(), 0U);
}

Task parent(std::vector<int>& to) {
    to.push_back(1);
    co_await append(to, 2, 3);
    to.push_back(3);
}

TEST(Tasks, await_another_task_inside_themselves) {
    Context context(MPI_COMM_WORLD);
    Tasks tasks(context);
    std::vector<int> order;
    tasks.spawn(parent(order));
    tasks.run();
    EXPECT_EQ(order, (std::vector<int>{1, 2, 2, 2, 3}));
}

Task wait_for(TaskHandle other, std::vector<int>& to, int value) {
    co_await other;
    to.push_back(value);
}

TEST(Tasks, wait_for_one_that_was_spawned_before_and_after_it_has_ended) {
    Context context(MPI_COMM_WORLD);
    Tasks tasks(context);
    std::vector<int> order;
    TaskHandle const first = tasks.spawn(append(order, 1, 4));
    tasks.spawn(wait_for(first, order, 2));
    tasks.spawn(wait_for(first, order, 3));
    tasks.run();
    EXPECT_EQ(order, (std::vector<int>{1, 1, 1, 1, 2, 3}));
    EXPECT_TRUE(first.is_done());
    tasks.spawn(wait_for(first, order, 4));
    tasks.run();
    EXPECT_EQ(order.back(), 4);
}

Task fail(std::string what) {
    co_await yielded();
    throw std::runtime_error(what);
}

Task catch_from(Task child, std::string& caught) {
    try {
        co_await std::move(child);
    } catch (std::runtime_error const& error) {
        caught = error.what();
    }
}

Task catch_from_handle(TaskHandle other, std::string& caught) {
    try {
        co_await other;
    } catch (std::runtime_error const& error) {
        caught = error.what();
    }
}

TEST(Tasks, hand_an_exception_to_who_awaits_them) {
    Context context(MPI_COMM_WORLD);
    Tasks tasks(context);
    std::string caught;
    std::string of_handle;
    tasks.spawn(catch_from(fail("inside"), caught));
    TaskHandle const failing = tasks.spawn(fail("spawned"));
    tasks.spawn(catch_from_handle(failing, of_handle));
    tasks.run();
    EXPECT_EQ(caught, "inside");
    EXPECT_EQ(of_handle, "spawned");
}

TEST(Tasks, throw_out_of_run_what_nobody_awaits_and_the_others_can_go_on) {
    Context context(MPI_COMM_WORLD);
    Tasks tasks(context);
    std::vector<int> order;
    tasks.spawn(fail("alone"));
    tasks.spawn(append(order, 7, 5));
    EXPECT_THROW(tasks.run(), std::runtime_error);
    tasks.run();
    EXPECT_EQ(order.size(), 5U);
    TaskHandle const kept = tasks.spawn(fail("kept"));
    EXPECT_THROW(tasks.run(), std::runtime_error);
    EXPECT_TRUE(kept.is_done());
}

Task exchange(int peer, int tag, int value, int& result) {
    int in = -1;
    MPI_Request receive = MPI_REQUEST_NULL;
    MPI_Request send = MPI_REQUEST_NULL;
    MPI_Irecv(&in, 1, MPI_INT, peer, tag, MPI_COMM_WORLD, &receive);
    MPI_Isend(&value, 1, MPI_INT, peer, tag, MPI_COMM_WORLD, &send);
    MPI_Status const status = co_await completed(receive);
    co_await completed(send);
    EXPECT_EQ(status.MPI_SOURCE, peer);
    EXPECT_EQ(status.MPI_TAG, tag);
    EXPECT_EQ(receive, MPI_REQUEST_NULL);
    result = in;
}

TEST(Tasks, wait_for_requests_of_plain_mpi) {
    Context context(MPI_COMM_WORLD);
    Tasks tasks(context);
    int const rank = context.rank();
    int const peer = (rank ^ 1) < context.size() ? rank ^ 1 : rank;
    constexpr int k_tasks = 40;
    std::vector<int> results(k_tasks, -1);
    for (int i = 0; i < k_tasks; ++i)
        tasks.spawn(exchange(peer, i, 100 * rank + i, results[static_cast<std::size_t>(i)]));
    tasks.run();
    for (int i = 0; i < k_tasks; ++i)
        EXPECT_EQ(results[static_cast<std::size_t>(i)], 100 * peer + i);
}

Task nap(std::chrono::milliseconds time, std::vector<int>& order, int value) {
    double const start = MPI_Wtime();
    co_await after(time);
    EXPECT_GE(MPI_Wtime() - start, std::chrono::duration<double>(time).count());
    order.push_back(value);
}

TEST(Tasks, wait_for_a_time) {
    Context context(MPI_COMM_WORLD);
    Tasks tasks(context);
    std::vector<int> order;
    tasks.spawn(nap(30ms, order, 2));
    tasks.spawn(nap(1ms, order, 1));
    tasks.spawn(nap(0ms, order, 0));
    tasks.run();
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
}

struct Counted {
    explicit Counted(int& alive) : alive_(&alive) { ++*alive_; }
    Counted(Counted const&) = delete;
    Counted& operator=(Counted const&) = delete;
    ~Counted() { --*alive_; }
    int* alive_;
};

Task hold(int& alive) {
    Counted const counted(alive);
    co_await after(std::chrono::hours(1));
}

TEST(Tasks, that_have_not_ended_are_destroyed_with_the_scheduler) {
    Context context(MPI_COMM_WORLD);
    int alive = 0;
    {
        Tasks tasks(context);
        for (int i = 0; i < 5; ++i)
            tasks.spawn(hold(alive));
        tasks.spawn(fail("ends run"));
        EXPECT_THROW(tasks.run(), std::runtime_error);
        EXPECT_EQ(alive, 5);
        Task const never_spawned = hold(alive);
    }
    EXPECT_EQ(alive, 0);
}

TEST(Tasks, of_which_there_are_many_all_end) {
#ifdef SLUICE_SIMULATED
    constexpr int k_tasks = 2000;  // each look costs the simulator a switch of ranks
#else
    constexpr int k_tasks = 100'000;
#endif
    Context context(MPI_COMM_WORLD);
    Tasks tasks(context);
    std::vector<int> order;
    order.reserve(2 * k_tasks);
    for (int i = 0; i < k_tasks; ++i)
        tasks.spawn(append(order, i, 2));
    tasks.run();
    EXPECT_EQ(order.size(), 2U * k_tasks);
    EXPECT_EQ(tasks.switches(), 3U * k_tasks);
}

}  // namespace
}  // namespace sluice::tests
