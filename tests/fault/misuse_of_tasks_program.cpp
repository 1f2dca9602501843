// SPDX-License-Identifier: BSD-3-Clause
/// Tasks, handles and what tasks wait for, used wrongly: each use gives an error that names it, and the objects can be
/// used afterwards.
#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "misuse.hpp"
#include "sluice/fetch.hpp"
#include "sluice/paged.hpp"
#include "sluice/tasks.hpp"

namespace {

using namespace sluice;
using namespace std::chrono_literals;

Task nothing() {
    co_return;
}
TaskOf<int> one() {
    co_return 1;
}
Task call(std::function<void()> action) {
    action();
    co_return;
}
template <typename Handle>
Task await(Handle handle) {
    co_await handle;
}
Task await_twice(TaskHandle handle) {
    co_await std::move(handle);
    co_await handle;  // NOLINT(bugprone-use-after-move): the mistake
}
Task await_readers(Store& store, Key key) {
    co_await store.all_have_it(key);
}
Task await_data(Store& store, Key key) {
    co_await store.fetch_all(FetchRequest{key, 8_B});
}
Task await_blocks(PagedFile& file, std::size_t block) {
    co_await file.use(BlockUse{block, BlockAccess::read});
}

int of_handles(Context& context) {
    Tasks tasks(context);
    Tasks others(context);
    TaskHandle handle = tasks.spawn(nothing());
    TaskHandle const taken = std::move(handle);
    TaskHandleOf<int> value = tasks.spawn(one());
    TaskHandleOf<int> const taken_value = std::move(value);
    std::optional<Tasks> gone(std::in_place, context);
    TaskHandle const of_gone = gone->spawn(nothing());
    gone.reset();
    // NOLINTBEGIN(bugprone-use-after-move): the mistakes
    return misuse::faults_of(
        {
            {"is_done of a handle", [&] { static_cast<void>(handle.is_done()); }, {"TaskHandle", "moved from"}},
            {"is_done of a handle with a value", [&] { static_cast<void>(value.is_done()); }, {"TaskHandle"}},
            {"co_await of a handle that was moved from",
             [&] {
                 Tasks waiting(context);
                 waiting.spawn(await(handle));
                 waiting.run();
             },
             {"TaskHandle", "moved from"}},
            {"co_await of a handle that was moved out of",
             [&] {
                 others.spawn(await_twice(others.spawn(nothing())));
                 others.run();
             },
             {"TaskHandle", "moved from"}},
            {"co_await of a task of another Tasks",
             [&] {
                 others.spawn(await(taken));
                 others.run();
             },
             {"a task of another Tasks", "cannot run"}},
            {"co_await of a task whose Tasks has gone",
             [&] {
                 others.spawn(await(of_gone));
                 others.run();
             },
             {"destroyed with its Tasks"}},
            {"the handles that they were moved to, after the end of their tasks",
             [&] {
                 tasks.spawn(await(taken));
                 tasks.spawn(await(taken_value));
                 tasks.run();
                 others.spawn(await(taken));
                 others.run();
                 if (!taken.is_done() || !of_gone.is_done()) throw Error(ErrorCode::internal, "it has not ended");
             },
             {}},
        },
        "handles");
    // NOLINTEND(bugprone-use-after-move)
}

int of_running(Context& context) {
    Tasks tasks(context);
    Tasks others(context);
    return misuse::faults_of(
        {
            {"run inside a task of the same Tasks",
             [&] {
                 tasks.spawn(call([&] { tasks.run(); }));
                 tasks.run();
             },
             {"Tasks::run", "runs already"}},
            {"run of another Tasks inside a task",
             [&] {
                 others.spawn(nothing());
                 tasks.spawn(call([&] { others.run(); }));
                 tasks.run();
             },
             {}},
            {"run of the first Tasks inside that",
             [&] {
                 others.spawn(call([&] { tasks.run(); }));
                 tasks.spawn(call([&] { others.run(); }));
                 tasks.run();
             },
             {"Tasks::run", "runs already"}},
            {"a Tasks that one of its tasks destroys",
             [&] {
                 auto doomed = std::make_unique<Tasks>(context);
                 Tasks& its = *doomed;
                 its.spawn(call([&] { doomed.reset(); }));
                 its.spawn(nothing());
                 its.run();
             },
             {"destroys its Tasks", "when run() has returned"}},
            {"the Tasks afterwards",
             [&] {
                 tasks.spawn(nothing());
                 tasks.run();
             },
             {}},
        },
        "running");
}

/// Each waits for something whose owner is destroyed by another task.
int of_what_has_gone() {
    Context alone(MPI_COMM_SELF);
    std::vector<std::byte> const data(8);
    Tasks tasks(alone);
    return misuse::faults_of(
        {
            {"a Store that goes while a task waits for readers",
             [&] {
                 std::optional<Store> store(std::in_place, alone);
                 store->publish({0, 1, 0}, data);
                 tasks.spawn(await_readers(*store, {0, 1, 0}));
                 tasks.spawn(call([&] { store.reset(); }));
                 tasks.run();
             },
             {"Store was destroyed"}},
            {"a Store that goes by an exception while a task waits for data",
             [&] {
                 std::optional<Store> store(std::in_place, alone);
                 tasks.spawn(await_data(*store, {0, 2, 0}));
                 tasks.spawn(call([&] {
                     struct Leaving {
                         std::optional<Store>* store;
                         ~Leaving() { store->reset(); }
                     };
                     try {
                         Leaving const leaving{&store};
                         throw 1;
                     } catch (int) {
                     }
                 }));
                 tasks.run();
             },
             {"the Store", "destroyed"}},
            {"a Store that goes before the readers are awaited",
             [&] {
                 std::optional<Store> store(std::in_place, alone);
                 store->publish({0, 1, 0}, data);
                 DeliveryAwaiter const waits = store->all_have_it({0, 1, 0});
                 store.reset();
                 if (!waits.await_ready()) throw Error(ErrorCode::internal, "a task would wait for ever");
                 waits.await_resume();
             },
             {"Store was destroyed"}},
            {"a PagedFile that goes while a task waits for its blocks",
             [&] {
                 Settings settings;
                 settings.paged_memory = 4_KiB;
                 Context small(MPI_COMM_SELF, settings);
                 Tasks waiting(small);
                 std::optional<PagedFile> file(std::in_place, small, 2, 4_KiB);
                 PagedBlocks first = file->use_now(std::vector<BlockUse>{{0, BlockAccess::write}});
                 first.release();
                 waiting.spawn(await_blocks(*file, 1));
                 waiting.spawn(call([&] { file.reset(); }));
                 waiting.run();
             },
             {"PagedFile that was destroyed"}},
            {"the Tasks afterwards",
             [&] {
                 tasks.spawn(nothing());
                 tasks.run();
             },
             {}},
        },
        "gone");
}

int of_functions() {
    Context alone(MPI_COMM_SELF);
    Store store(alone);
    PagedFile file(alone, 1, 4_KiB);
    Budget budget = alone.budget();
    std::vector<std::byte> const data(8);
    std::vector<FetchRequest> const wants{{{0, 7, 0}, 8_B}};
    std::vector<BlockUse> const uses{{0, BlockAccess::write}};
    Key const key{0, 5, 0};
    std::string const empty = "empty function";
    Store::DataSink kept;
    return misuse::faults_of(
        {
            {"publish", [&] { store.publish(key, 8_B, Store::Packer()); }, {"Store::publish", empty}},
            {"publish_lazily", [&] { store.publish_lazily(key, 8_B, {}); }, {"Store::publish_lazily", empty}},
            {"send", [&] { store.send(0, key, 8_B, {}); }, {"Store::send", empty}},
            {"fetch_all", [&] { store.fetch_all(wants, {}); }, {"Store::fetch_all", empty}},
            {"receive_all", [&] { store.receive_all(wants, {}); }, {"Store::receive_all", empty}},
            {"when_all_have_it", [&] { store.when_all_have_it(key, {}); }, {"Store::when_all_have_it", empty}},
            {"wait_until", [&] { store.wait_until({}); }, {"Store::wait_until", empty}},
            {"use", [&] { file.use(uses, {}); }, {"PagedFile::use", empty}},
            {"when_free", [&] { budget.when_free(1_KiB, Purpose::other, {}); }, {"Budget::when_free", empty}},
            {"no reader", [&] { store.publish(key, data, 0); }, {"for 0 readers"}},
            {"fewer readers than none",
             [&] {
                 store.publish(
                     key, 8_B, [](std::span<std::byte>) {}, -5);
             },
             {"-5"}},
            {"a sink that is called again",
             [&] {
                 store.publish_lazily({0, 7, 0}, 8_B, [&](Store::DataSink sink) {
                     sink(data, nullptr);
                     kept = std::move(sink);
                 });
                 bool is_there = false;
                 store.fetch_all(wants, [&](FetchResult, std::exception_ptr const& error) { is_there = !error; });
                 store.wait_until([&] { return is_there; });
                 kept(data, nullptr);
             },
             {"DataSink", "again"}},
        },
        "functions");
}

int of_ends(Context& context) {
    return misuse::faults_of(
        {{"MPI_Finalize inside a task",
          [&] {
              Tasks tasks(context);
              tasks.spawn(nothing());
              tasks.spawn(call([] { MPI_Finalize(); }));
              tasks.spawn(nothing());
              tasks.run();
          },
          {"calls MPI_Finalize", "Tasks::run"}},
         {"a time after that", [] { static_cast<void>(after(1ms)); }, {"sluice::after", "after MPI_Finalize"}}},
        "ends");
}

}  // namespace

int main(int argc, char** argv) {
    int faults = misuse::faults_of(
        {{"a time", [] { static_cast<void>(after(1ms)); }, {"sluice::after", "before MPI_Init"}}}, "before MPI_Init");
    MPI_Init(&argc, &argv);
    auto context = std::make_unique<Context>(MPI_COMM_WORLD);
    faults += of_handles(*context) + of_running(*context) + of_what_has_gone() + of_functions();
    int all = 0;
    MPI_Allreduce(&faults, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all + of_ends(*context) != 0;
}
