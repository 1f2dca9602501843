// SPDX-License-Identifier: BSD-3-Clause
/// A second thread inside a context gets an error that says so, from every call, and the first one goes on unharmed.
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <semaphore>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "fault/misuse.hpp"
#include "sluice/alltoall.hpp"
#include "sluice/collectives.hpp"
#include "sluice/exchange.hpp"
#include "sluice/fetch.hpp"
#include "sluice/packed_plan.hpp"
#include "sluice/paged.hpp"
#include "sluice/rank_plan.hpp"
#include "sluice/redistribute.hpp"
#include "sluice/tasks.hpp"
#include "sluice/transpose.hpp"

namespace sluice {
namespace {

Task nothing() {
    co_return;
}
Task call(std::function<void()> action) {
    action();
    co_return;
}

TEST(SecondThread, inside_a_context_gets_an_error_from_every_call_and_the_first_one_goes_on) {
    Context context(MPI_COMM_WORLD);
    Store store(context);
    Tasks tasks(context);
    PagedFile file(context, 2, 4_KiB);
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(context.size()), context.rank());
    std::vector<Destination> const stay{{context.rank(), 0}};
    std::vector<double> block(1, 3.5);
    Plan plan(context, 1, stay);
    std::vector<std::uint64_t> sizes{1};
    std::vector<int> const here{context.rank()};
    PackedPlan packed(context, {sizes, here, {sizeof(double)}});
    RankPlan by_rank(context, here);
    ExchangePlan kept_exchange(context);
    AlltoallPlan kept_alltoall(context, 1, MPI_INT64_T, 1, MPI_INT64_T);
    std::vector<std::int64_t> taken(numbers.size());
    ArrayShape const shape{{context.size(), 1, 1}, {sizeof(double)}};
    ArrayLayout slabs;
    slabs.grid = {context.size(), 1, 1};
    TransposePlan transposing(context, shape, slabs, slabs);
    double from = 1;
    double to = 0;
    Key const key{context.rank(), 1, 0};
    std::array<std::byte, 8> const data{};
    std::vector<std::int64_t> const ones(numbers.size(), 1);
    std::vector<std::int64_t> places(numbers.size());
    for (std::size_t i = 0; i < places.size(); ++i)
        places[i] = static_cast<std::int64_t>(i);
    std::vector<FetchRequest> const wants{{key, 8_B}};
    std::vector<BlockUse> const uses{{0, BlockAccess::read}};

    struct Call {
        char const* name;
        std::function<void()> run;
    };
    std::vector<Call> const calls{
        {"Plan", [&] { Plan const second(context, 1, stay); }},
        {"Plan", [&] { Plan::computed(context, 1, [&](std::uint64_t) { return stay[0]; }); }},
        {"Plan::apply", [&] { plan.apply(blocks_of(block)); }},
        {"PackedPlan",
         [&] {
             PackedPlan const second(context, {sizes, here});
         }},
        {"PackedPlan::apply", [&] { packed.apply(Resize::grow, block, sizes); }},
        {"RankPlan", [&] { RankPlan const second(context, here); }},
        {"RankPlan::apply", [&] { by_rank.apply(Resize::grow, block); }},
        {"ExchangePlan", [&] { ExchangePlan const second(context); }},
        {"ExchangePlan::apply", [&] { kept_exchange.apply({}, [](int, FetchResult) {}); }},
        {"exchange", [&] { exchange(context, {}, [](int, FetchResult) {}); }},
        {"AlltoallPlan", [&] { AlltoallPlan const second(context, 1, MPI_INT64_T, 1, MPI_INT64_T); }},
        {"AlltoallPlan::apply", [&] { kept_alltoall.apply(numbers.data(), taken.data()); }},
        {"all-to-all", [&] { alltoall(context, numbers, taken); }},
        {"TransposePlan", [&] { TransposePlan const second(context, shape, slabs, slabs); }},
        {"TransposePlan::apply", [&] { transposing.apply(&from, &to); }},
        {"transpose", [&] { transpose(context, shape, slabs, slabs, &from, &to); }},
        {"redistribute", [&] { redistribute(context, blocks_of(block), stay); }},
        {"all-to-all", [&] { alltoall_in_place(context, numbers); }},
        {"alltoallv_in_place", [&] { alltoallv_in_place(context, numbers, ones, places); }},
        {"Store", [&] { Store const second(context); }},
        {"Store::publish", [&] { store.publish(key, data); }},
        {"Store::publish_lazily", [&] { store.publish_lazily(key, 8_B, [](Store::DataSink const&) {}); }},
        {"Store::withdraw", [&] { store.withdraw(key); }},
        {"Store::close", [&] { store.close(7); }},
        {"Store::all_have_it", [&] { static_cast<void>(store.all_have_it(key)); }},
        {"Store::when_all_have_it", [&] { store.when_all_have_it(key, [] {}); }},
        {"Store::fetch_all", [&] { static_cast<void>(store.fetch_all(wants)); }},
        {"Store::receive_all", [&] { static_cast<void>(store.receive_all(wants)); }},
        {"Store::send", [&] { store.send(context.rank(), key, data); }},
        {"Store::progress", [&] { store.progress(); }},
        {"Store::wait_until", [&] { store.wait_until([] { return true; }); }},
        {"Store::open_sets", [&] { store.open_sets(); }},
        {"Store::report", [&] { static_cast<void>(store.report()); }},
        {"Store::finish", [&] { store.finish(); }},
        {"Tasks::spawn", [&] { tasks.spawn(nothing()); }},
        {"Tasks::run", [&] { tasks.run(); }},
        {"PagedFile", [&] { PagedFile const second(context, 1, 4_KiB); }},
        {"PagedFile::use", [&] { static_cast<void>(file.use(uses)); }},
        {"PagedFile::use_now", [&] { file.use_now(uses); }},
        {"PagedFile::plan", [&] { file.plan(uses); }},
        {"PagedFile::progress", [&] { file.progress(); }},
        {"PagedFile::report", [&] { static_cast<void>(file.report()); }},
    };

    std::binary_semaphore inside{0};
    std::binary_semaphore go_on{0};
    std::thread first([&] {
        bool told = false;
        store.wait_until([&] {
            if (told) return true;
            told = true;
            inside.release();
            go_on.acquire();
            return false;
        });
    });
    inside.acquire();
    for (Call const& call : calls) {
        try {
            call.run();
            ADD_FAILURE() << call.name << " was not refused";
        } catch (Error const& error) {
            std::string const text = error.what();
            EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
            EXPECT_NE(text.find("rank " + std::to_string(context.rank()) + ": a thread calls "), std::string::npos)
                << text;
            EXPECT_NE(text.find(call.name), std::string::npos) << text;
            EXPECT_NE(text.find("another thread is inside Store::wait_until"), std::string::npos) << text;
        }
    }
    // These only read what never changes.
    EXPECT_EQ(context.settings(), context.settings());
    EXPECT_LT(context.rank(), context.size());
    go_on.release();
    first.join();

    // Afterwards the context serves this thread.
    redistribute(context, blocks_of(block), stay);
    EXPECT_EQ(block[0], 3.5);
    alltoall_in_place(context, numbers);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        EXPECT_EQ(numbers[i], static_cast<std::int64_t>(i));
}

/// While one thread is inside, another destroys what belongs to the same context: it is said, and nothing is touched.
TEST(SecondThread, destroys_what_the_first_one_uses_and_that_goes_on) {
    Context context(MPI_COMM_SELF);
    auto tasks = std::make_unique<Tasks>(context);
    PagedFile file(context, 1, 4_KiB);
    std::vector<BlockUse> const uses{{0, BlockAccess::write}};
    std::optional<PagedBlocks> blocks(file.use_now(uses));
    std::binary_semaphore inside{0};
    std::binary_semaphore go_on{0};
    bool all_ran = false;
    tasks->spawn(call([&] {
        inside.release();
        go_on.acquire();
    }));
    tasks->spawn(call([&] { all_ran = true; }));
    std::thread first([&its = *tasks] { its.run(); });
    inside.acquire();
    std::string const said = misuse::standard_error_of([&] {
        tasks.reset();
        blocks.reset();
    });
    go_on.release();
    first.join();
    EXPECT_TRUE(all_ran);
    for (std::string const object : {"Tasks", "PagedBlocks"})
        EXPECT_NE(said.find("destroys a " + object + " while another thread is inside"), std::string::npos) << said;
}

}  // namespace
}  // namespace sluice
