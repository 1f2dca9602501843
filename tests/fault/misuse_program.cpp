// SPDX-License-Identifier: BSD-3-Clause
/// Objects that are used before MPI_Init, after MPI_Finalize, after they were moved from, and after the context that
/// they were made on: each use is right or gives an error that names the object and says what to do.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "misuse.hpp"
#include "sluice/collectives.hpp"
#include "sluice/fetch.hpp"
#include "sluice/paged.hpp"
#include "sluice/redistribute.hpp"
#include "sluice/tasks.hpp"

namespace {

using namespace sluice;
using misuse::Wrong;

Task nothing() {
    co_return;
}

Task fetch_one(Store& store, Key key, std::uint64_t& bytes) {
    FetchResult const got = co_await store.fetch_all(FetchRequest{key, Bytes{8}});
    bytes = got[0].size();
}

/// Everything that is made on a context.
struct Made {
    explicit Made(Context& context)
        : rank(context.rank()),
          stay{{context.rank(), 0}},
          plan(context, 1, stay),
          store(std::in_place, context),
          tasks(std::in_place, context),
          file(std::in_place, context, 2, 4_KiB) {}
    int rank;
    std::vector<Destination> stay;
    std::optional<Plan> plan_two;
    std::vector<double> block = std::vector<double>(1, 2.5);
    std::vector<std::byte> data = std::vector<std::byte>(8);
    Plan plan;
    std::optional<Store> store;
    std::optional<Tasks> tasks;
    std::optional<PagedFile> file;
    std::vector<BlockUse> uses{{0, BlockAccess::update}};
};

int before_init() {
    return misuse::faults_of(
        {
            {"a context", [] { Context const context(MPI_COMM_WORLD); }, {"a Context", "before MPI_Init"}},
            {"a budget", [] { Budget(1_MiB).held(); }, {}},
        },
        "before MPI_Init");
}

int on_wrong_communicators() {
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm inter = MPI_COMM_NULL;
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    if (size > 1) MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter);
    std::vector<Wrong> table{
        {"MPI_COMM_NULL", [] { Context const context(MPI_COMM_NULL); }, {"a Context", "MPI_COMM_NULL", "leave out"}}};
    if (size > 1)
        table.push_back({"an inter-communicator",
                         [&] { Context const context(inter); },
                         {"a Context", "inter-communicator", "MPI_Intercomm_merge"}});
    int const faults = misuse::faults_of(table, "communicators");
    if (size > 1) MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    return faults;
}

int after_moves() {
    Context first(MPI_COMM_WORLD);
    Made made(first);
    Context context(std::move(first));
    Plan plan(std::move(made.plan));
    Budget budget(1_MiB);
    Budget const moved_budget(std::move(budget));
    std::optional<Lease> lease = budget.try_lease(64_KiB, Purpose::other);
    Lease moved_lease(std::move(*lease));
    Task task = nothing();
    Task const moved_task(std::move(task));
    PagedBlocks blocks = made.file->use_now(made.uses);
    PagedBlocks const moved_blocks(std::move(blocks));
    FetchResult const empty;
    std::uint64_t bytes = 0;
    int const rank = context.rank();
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(context.size()));
    std::string const gone = "moved from";
    int const faults = misuse::faults_of(
        {
            {"rank of a context", [&] { first.rank(); }, {"Context", gone}},
            {"size of a context", [&] { first.size(); }, {"Context", gone}},
            {"settings of a context", [&] { static_cast<void>(first.settings()); }, {"Context", gone}},
            {"budget of a context", [&] { static_cast<void>(first.budget()); }, {"Context", gone}},
            {"a store on it", [&] { Store const store(first); }, {"Context", gone}},
            {"tasks on it", [&] { Tasks const tasks(first); }, {"Context", gone}},
            {"a file on it", [&] { PagedFile const file(first, 1, 4_KiB); }, {"Context", gone}},
            {"a plan on it", [&] { Plan const second(first, 1, made.stay); }, {"Context", gone}},
            {"redistribute on it", [&] { redistribute(first, blocks_of(made.block), made.stay); }, {"Context", gone}},
            {"an all-to-all on it", [&] { alltoall_in_place(first, numbers); }, {"Context", gone}},
            {"apply of a plan", [&] { made.plan.apply(blocks_of(made.block)); }, {"Plan", gone}},
            {"memory of a plan", [&] { static_cast<void>(made.plan.memory()); }, {"Plan", gone}},
            {"the plan that it was moved to", [&] { plan.apply(blocks_of(made.block)); }, {}},
            {"a budget", [&] { budget.set_limit(2_MiB); }, {}},
            {"a lease",
             [&] {
                 lease->release();
                 lease->split(4_KiB);
             },
             {}},
            {"spawning a task", [&] { made.tasks->spawn(std::move(task)); }, {"Task", gone}},
            {"paged blocks", [&] { static_cast<void>(blocks[0]); }, {"PagedBlocks", gone}},
            {"elements of paged blocks", [&] { static_cast<void>(blocks.as<int>(0)); }, {"PagedBlocks", gone}},
            {"a fetch result", [&] { static_cast<void>(empty[0]); }, {"FetchResult", "0 requests"}},
            {"a store whose context was moved",
             [&] {
                 made.store->publish({rank, 1, 0}, made.data);
                 made.tasks->spawn(fetch_one(*made.store, {rank, 1, 0}, bytes));
                 made.tasks->run();
                 if (bytes != 8) throw Error(ErrorCode::internal, "nothing was fetched");
             },
             {}},
        },
        "moved from");
    return faults;
}

int after_the_context() {
    auto context = std::make_unique<Context>(MPI_COMM_WORLD);
    int const rank = context->rank();
    int const size = context->size();
    Made made(*context);
    PagedBlocks blocks = made.file->use_now(made.uses);
    std::optional<Lease> lease = context->budget().try_lease(4_KiB, Purpose::other);
    Budget budget = context->budget();
    std::uint64_t bytes = 0;
    FetchResult kept;
    context.reset();
    return misuse::faults_of(
        {
            {"a plan", [&] { made.plan.apply(blocks_of(made.block)); }, {}},
            {"tasks, and a fetch from the next rank",
             [&] {
                 made.store->publish({rank, 1, 0}, made.data);
                 made.tasks->spawn(fetch_one(*made.store, {(rank + 1) % size, 1, 0}, bytes));
                 made.tasks->run();
                 if (bytes != 8) throw Error(ErrorCode::internal, "nothing was fetched");
             },
             {}},
            {"the figures of a store", [&] { static_cast<void>(made.store->report()); }, {}},
            {"a result that outlives its store",
             [&] {
                 made.store->publish({rank, 2, 0}, made.data);
                 std::vector<FetchRequest> const wants{{{(rank + 1) % size, 2, 0}, 8_B}};
                 made.store->fetch_all(wants,
                                       [&](FetchResult got, std::exception_ptr const&) { kept = std::move(got); });
                 made.store.reset();
                 if (kept[0].size() != 8) throw Error(ErrorCode::internal, "nothing was kept");
                 kept = {};
             },
             {}},
            {"an awaiter that outlives its store",
             [&] {
                 Context alone(MPI_COMM_SELF);
                 std::optional<Store> store(std::in_place, alone);
                 std::vector<FetchRequest> const wants{{{0, 99, 0}, 8_B}};
                 FetchAwaiter const waits = store->fetch_all(wants);
                 try {
                     // The store goes while an exception is handled, so it does not wait for the fetch.
                     struct Leaving {
                         std::optional<Store>* store;
                         ~Leaving() { store->reset(); }
                     } const leaving{&store};
                     throw 1;
                 } catch (int) {
                 }
                 if (!waits.await_ready()) throw Error(ErrorCode::internal, "a task would wait for ever");
                 waits.await_resume();
             },
             {"the Store", "destroyed"}},
            {"a paged file", [&] { static_cast<void>(made.file->report()); }, {}},
            {"paged blocks that outlive their file",
             [&] {
                 made.file.reset();
                 static_cast<void>(blocks[0]);
                 blocks.release();
             },
             {}},
            {"a budget and a lease",
             [&] {
                 lease.reset();
                 budget.held();
             },
             {}},
        },
        "after the context");
}

int after_finalize(std::unique_ptr<Context> context, std::unique_ptr<Made> made, Context& fresh) {
    std::string const late = "after MPI_Finalize";
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(context->size()));
    std::vector<FetchRequest> const wants{{{0, 1, 0}, 8_B}};
    Key const key{made->rank, 5, 0};
    int faults = misuse::faults_of(
        {
            {"a context", [] { Context const second(MPI_COMM_WORLD); }, {"a Context", late}},
            {"rank and size", [&] { static_cast<void>(context->rank() + context->size()); }, {}},
            {"redistribute",
             [&] { redistribute(*context, blocks_of(made->block), made->stay); },
             {"redistribute", late}},
            {"a plan", [&] { Plan const second(*context, 1, made->stay); }, {"Plan", late}},
            {"apply", [&] { made->plan.apply(blocks_of(made->block)); }, {"Plan::apply", late}},
            {"an all-to-all", [&] { alltoall_in_place(*context, numbers); }, {"all-to-all", late}},
            {"a store", [&] { Store const second(*context); }, {"Store", late}},
            {"publish", [&] { made->store->publish(key, made->data); }, {"Store::publish", late}},
            {"fetch", [&] { static_cast<void>(made->store->fetch_all(wants)); }, {"Store::fetch_all", late}},
            {"send", [&] { made->store->send(0, key, made->data); }, {"Store::send", late}},
            {"progress", [&] { made->store->progress(); }, {"Store::progress", late}},
            {"finish", [&] { made->store->finish(); }, {"Store::finish", late}},
            {"run", [&] { made->tasks->run(); }, {"Tasks::run", late}},
            {"use", [&] { made->file->use_now(made->uses); }, {"PagedFile::use_now", late}},
        },
        "after MPI_Finalize");
    std::string const said = misuse::standard_error_of([&] {
        made.reset();
        context.reset();
        Context const moved(std::move(fresh));
    });
    std::size_t lines = 0;
    for (char const c : said)
        lines += c == '\n' ? 1 : 0;
    if (lines == 1 && said.find("destroys a ") != std::string::npos && said.find(late) != std::string::npos)
        return faults;
    std::fprintf(stderr, "FAULT objects destroyed after MPI_Finalize say \"%s\"\n", said.c_str());
    return faults + 1;
}

}  // namespace

int main(int argc, char** argv) {
    int faults = before_init();
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE,
                    &level);  // so that the store is looked at in the background, too
    faults += on_wrong_communicators();
    faults += after_moves();
    faults += after_the_context();
    Settings settings = Settings::from_environment();
    settings.progress = ProgressBy::automatic;
    auto context = std::make_unique<Context>(MPI_COMM_WORLD, settings);
    Context fresh(MPI_COMM_WORLD, settings);
    auto made = std::make_unique<Made>(*context);
    int all = 0;
    MPI_Allreduce(&faults, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all + after_finalize(std::move(context), std::move(made), fresh) != 0;
}
