// SPDX-License-Identifier: BSD-3-Clause
/// Tasks that give a value: to the task that awaits them, and to the holders of their handle.
#include <gtest/gtest.h>
#include <mpi.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sluice/tasks.hpp"

namespace sluice::tests {
namespace {

TaskOf<int> sum_up_to(int n) {
    int sum = 0;
    for (int i = 1; i <= n; ++i) {
        sum += i;
        co_await yielded();
    }
    co_return sum;
}

Task add(int& result) {
    result = co_await sum_up_to(4) + co_await sum_up_to(10);
}

TEST(TasksWithValues, give_them_to_the_task_that_awaits_them) {
    Context context(MPI_COMM_WORLD);
    Tasks tasks(context);
    int result = 0;
    tasks.spawn(add(result));
    tasks.run();
    EXPECT_EQ(result, 10 + 55);
}

/// Cannot be copied, and lives in memory of its own.
TaskOf<std::unique_ptr<std::string>> make(std::string text) {
    auto made = std::make_unique<std::string>(std::move(text));
    co_await yielded();
    co_return made;
}

TaskOf<std::unique_ptr<std::string>> pass_on(std::string text) {
    co_return co_await make(std::move(text));
}

Task read(std::string& text) {
    std::unique_ptr<std::string> const got = co_await pass_on("moved twice");
    text = *got;
}

TEST(TasksWithValues, move_them) {
    Context context(MPI_COMM_WORLD);
    Tasks tasks(context);
    std::string text;
    tasks.spawn(read(text));
    tasks.run();
    EXPECT_EQ(text, "moved twice");
}

struct alignas(16) Wide {
    double values[8];
};

TaskOf<Wide> wide() {
    co_await yielded();
    co_return Wide{{1, 2, 3, 4, 5, 6, 7, 8}};
}

Task look_at_wide(int& right) {
    Wide const got = co_await wide();
    right += got.values[7] == 8 ? 1 : 0;
}

TEST(TasksWithValues, may_give_more_aligned_ones_than_the_scheduler_knows) {
    Context context(MPI_COMM_WORLD);
    Tasks tasks(context);
    int right = 0;
    tasks.spawn(look_at_wide(right));
    TaskHandleOf<Wide> const handle = tasks.spawn(wide());
    tasks.run();
    EXPECT_EQ(right, 1);
    EXPECT_TRUE(handle.is_done());
}

TaskOf<int> fail_with(std::string what) {
    co_await yielded();
    if (!what.empty()) throw std::runtime_error(what);
    co_return 1;
}

Task catch_both(TaskHandleOf<int> spawned, std::string& of_task, std::string& of_handle) {
    try {
        co_await fail_with("inside");
    } catch (std::runtime_error const& error) {
        of_task = error.what();
    }
    try {
        co_await spawned;
    } catch (std::runtime_error const& error) {
        of_handle = error.what();
    }
}

TEST(TasksWithValues, hand_an_exception_to_the_task_that_awaits_them) {
    Context context(MPI_COMM_WORLD);
    Tasks tasks(context);
    std::string of_task;
    std::string of_handle;
    tasks.spawn(catch_both(tasks.spawn(fail_with("spawned")), of_task, of_handle));
    tasks.run();
    EXPECT_EQ(of_task, "inside");
    EXPECT_EQ(of_handle, "spawned");
}

Task take_by_reference(TaskHandleOf<std::unique_ptr<std::string>> handle, std::vector<std::string const*>& seen) {
    auto const& value = co_await handle;
    seen.push_back(value.get());
}

Task take_away(TaskHandleOf<std::unique_ptr<std::string>> handle, std::unique_ptr<std::string>& to) {
    to = co_await std::move(handle);
}

TEST(TasksWithValues, keep_them_in_their_handle_until_they_are_moved_out) {
    Context context(MPI_COMM_WORLD);
    Tasks tasks(context);
    std::vector<std::string const*> seen;
    auto const handle = tasks.spawn(make("kept"));
    tasks.spawn(take_by_reference(handle, seen));
    tasks.spawn(take_by_reference(handle, seen));
    tasks.run();
    ASSERT_EQ(seen.size(), 2U);
    EXPECT_EQ(seen[0], seen[1]);
    EXPECT_EQ(*seen[0], "kept");
    std::unique_ptr<std::string> moved;
    tasks.spawn(take_away(handle, moved));
    tasks.run();
    ASSERT_NE(moved, nullptr);
    EXPECT_EQ(moved.get(), seen[0]);
}

Task await_one_that_was_moved(std::string& fault) {
    TaskOf<int> task = sum_up_to(3);
    TaskOf<int> const other = std::move(task);
    try {
        co_await std::move(task);
    } catch (Error const& error) {
        fault = error.what();
    }
}

TEST(TasksWithValues, that_were_moved_from_are_an_error) {
    Context context(MPI_COMM_WORLD);
    Tasks tasks(context);
    std::string fault;
    tasks.spawn(await_one_that_was_moved(fault));
    tasks.run();
    EXPECT_NE(fault.find("moved from"), std::string::npos) << fault;
}

/// Counts the values that exist.
struct Counted {
    explicit Counted(int& alive) : alive_(&alive) { ++*alive_; }
    Counted(Counted const&) = delete;
    Counted(Counted&& other) noexcept : alive_(other.alive_) { ++*alive_; }
    Counted& operator=(Counted const&) = delete;
    Counted& operator=(Counted&&) = delete;
    ~Counted() { --*alive_; }
    int* alive_;
};

TaskOf<Counted> counted(int& alive) {
    co_await yielded();
    co_return Counted(alive);
}

Task drop(int& alive, int& most) {
    for (int i = 0; i < 3; ++i) {
        Counted const got = co_await counted(alive);
        most = most < alive ? alive : most;
    }
}

TEST(TasksWithValues, do_not_keep_any_that_no_task_holds) {
    Context context(MPI_COMM_WORLD);
    Tasks tasks(context);
    int alive = 0;
    int most = 0;
    tasks.spawn(drop(alive, most));
    tasks.spawn(counted(alive));  // its handle is dropped, and so is its value
    tasks.run();
    EXPECT_EQ(alive, 0);
    EXPECT_GE(most, 1);
}

}  // namespace
}  // namespace sluice::tests
