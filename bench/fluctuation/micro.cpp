// SPDX-License-Identifier: BSD-3-Clause
#include "fluctuation/micro.hpp"

#include <malloc.h>
#include <mpi.h>

#include <functional>
#include <span>

#include "mpi/mpi.hpp"
#include "sluice/error.hpp"
#include "sluice/fetch.hpp"

namespace sluice::bench {

namespace {

constexpr int k_turning_tasks = 100;
constexpr int k_turns = 20000;
constexpr std::uint64_t k_fetches = 5000;
constexpr std::uint64_t k_tasks = 100000;

std::uint64_t heap_bytes() {
    struct mallinfo2 const heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

Task take_turns(int turns) {
    for (int turn = 0; turn < turns; ++turn)
        co_await yielded();
}

/// Returns the seconds that one switch takes.
double task_switch(Context& context) {
    Tasks tasks(context);
    for (int i = 0; i < k_turning_tasks; ++i)
        tasks.spawn(take_turns(k_turns));
    std::uint64_t const before = tasks.switches();
    double const start = MPI_Wtime();
    tasks.run();
    return (MPI_Wtime() - start) / static_cast<double>(tasks.switches() - before);
}

FetchRequest want(std::uint64_t id, std::uint64_t epoch) {
    return {{1, id, epoch}, Bytes{sizeof(std::uint64_t)}};
}

Task fetch_one_by_one(Store& store, std::uint64_t epoch, double& seconds) {
    std::uint64_t wrong = 0;
    double const start = MPI_Wtime();
    for (std::uint64_t id = 0; id < k_fetches; ++id) {
        FetchResult const got = co_await store.fetch_all(want(id, epoch));
        if (got.as<std::uint64_t>(0)[0] != id + epoch) ++wrong;
    }
    seconds = (MPI_Wtime() - start) / k_fetches;
    if (wrong > 0)
        throw Error(ErrorCode::internal, "fetch_8_bytes: " + std::to_string(wrong) + " of " +
                                             std::to_string(k_fetches) + " fetches brought something else");
}

/// While a rank waits in a task, it serves its peers.
Task wait_for(MPI_Request& request) {
    co_await completed(request);
}

/// Returns the seconds that one fetch takes on rank 0. Nothing is measured on the other ranks.
double fetch_8_bytes(Context& context, Store& store, std::uint64_t epoch) {
    std::vector<std::uint64_t> data(k_fetches);
    double seconds = 0;
    if (context.rank() == 1)
        for (std::uint64_t id = 0; id < k_fetches; ++id) {
            data[id] = id + epoch;
            store.publish({1, id, epoch}, std::as_bytes(std::span(data).subspan(id, 1)));
        }
    mpi::check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
    Tasks tasks(context);
    if (context.rank() == 0) {
        tasks.spawn(fetch_one_by_one(store, epoch, seconds));
        tasks.run();
    }
    MPI_Request barrier = MPI_REQUEST_NULL;
    mpi::check(MPI_Ibarrier(MPI_COMM_WORLD, &barrier), "MPI_Ibarrier");
    tasks.spawn(wait_for(barrier));
    tasks.run();
    return seconds;
}

Task fetch_once(Store& store, FetchRequest wanted) {
    co_await store.fetch_all(wanted);
}

Task ends_when_it_ran() {
    co_await yielded();
}

/// This task is spawned last: when it runs, the others wait.
Task look_at_heap(std::uint64_t& heap, std::function<void()> then) {
    heap = heap_bytes();
    then();
    co_return;
}

/// Returns the heap memory of a task, in addition to its frame, while all tasks wait; `then` is called at that moment.
double bytes_per_task(Tasks& tasks, std::function<Task(std::uint64_t)> const& make, std::function<void()> const& then) {
    std::vector<Task> made;
    made.reserve(k_tasks);
    std::uint64_t waiting = 0;
    std::uint64_t const before = heap_bytes();
    for (std::uint64_t i = 0; i < k_tasks; ++i)
        made.push_back(make(i));
    std::uint64_t const frames = heap_bytes() - before;
    for (Task& task : made)
        tasks.spawn(std::move(task));
    tasks.spawn(look_at_heap(waiting, then));
    tasks.run();
    return static_cast<double>(waiting - before - frames) / k_tasks;
}

Task publish_when(MPI_Request& asked, Store& store, std::uint64_t const& datum) {
    co_await completed(asked);
    for (std::uint64_t id = 0; id < k_tasks; ++id)
        store.publish({1, id, 0}, std::as_bytes(std::span(&datum, 1)));
}

/// Measures rank 0's tasks, which fetch data that rank 1 publishes only when all tasks wait; returns 0 on the other
/// ranks.
double bytes_per_fetching_task(Context& context) {
    std::uint64_t const datum = 7;
    Store store(context);
    Tasks tasks(context);
    MPI_Request all_wait = MPI_REQUEST_NULL;
    auto const enter = [&] { mpi::check(MPI_Ibarrier(MPI_COMM_WORLD, &all_wait), "MPI_Ibarrier"); };
    double bytes = 0;
    if (context.rank() == 0) {
        bytes = bytes_per_task(
            tasks, [&](std::uint64_t id) { return fetch_once(store, want(id, 0)); }, enter);
    } else {
        enter();
        tasks.spawn(context.rank() == 1 ? publish_when(all_wait, store, datum) : wait_for(all_wait));
    }
    tasks.run();
    store.finish();
    mpi::check(MPI_Wait(&all_wait, MPI_STATUS_IGNORE), "MPI_Wait");
    return bytes;
}

Row time_row(Row row, char const* method, std::vector<double> const& samples) {
    row["method"] = method;
    row["seconds"] = spread_row(samples);
    row["outcome"] = "ok";
    return row;
}

Row memory_row(Row row, char const* method, double bytes) {
    row["method"] = method;
    row["tasks"] = k_tasks;
    row["extra_bytes"] = bytes;
    row["outcome"] = "ok";
    return row;
}

}  // namespace

std::vector<Row> micro_rows(Row const& cell, int pairs) {
    if (mpi::size_of(MPI_COMM_WORLD) < 2) throw Error(ErrorCode::invalid_argument, "micro wants two ranks or more");
    Context context(MPI_COMM_WORLD);
    std::vector<double> switches;
    switches.reserve(static_cast<std::size_t>(pairs));
    for (int sample = 0; sample < pairs; ++sample)
        switches.push_back(task_switch(context));
    std::vector<double> fetches;
    fetches.reserve(static_cast<std::size_t>(pairs));
    {
        Store store(context);
        std::uint64_t epoch = 0;
        fetch_8_bytes(context, store, epoch);  // warms up
        for (int sample = 0; sample < pairs; ++sample)
            fetches.push_back(fetch_8_bytes(context, store, ++epoch));
    }
    Tasks tasks(context);
    double const ready = bytes_per_task(
        tasks, [](std::uint64_t) { return ends_when_it_ran(); }, [] {});
    double const fetching = bytes_per_fetching_task(context);
    if (mpi::rank_in(MPI_COMM_WORLD) != 0) return {};
    return {time_row(cell, "task_switch", switches), time_row(cell, "fetch_8_bytes", fetches),
            memory_row(cell, "tasks_ready", ready), memory_row(cell, "tasks_fetching", fetching)};
}

}  // namespace sluice::bench
