// SPDX-License-Identifier: BSD-3-Clause
/// Progress by the helper thread: while a rank computes, others get its data.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "engine/context_state.hpp"
#include "mpi/mpi.hpp"
#include "sluice/fetch.hpp"
#include "support/needs_ranks.hpp"

namespace {

std::thread::id const g_program = std::this_thread::get_id();
std::atomic<unsigned> g_looks_beside{0};

}  // namespace

/// A look of a store begins with it.
extern "C" int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* found, MPI_Status* status) {
    if (std::this_thread::get_id() != g_program) ++g_looks_beside;
    return PMPI_Iprobe(source, tag, comm, found, status);
}

namespace sluice::fetch {
namespace {

using namespace std::chrono_literals;

bool has_threads() {
    int level = 0;
    MPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE;
}

/// A word that all ranks of the node see, without calls of MPI.
class Flag {
  public:
    Flag() {
        int const rank = mpi::rank_in(MPI_COMM_WORLD);
        std::uint32_t* mine = nullptr;
        MPI_Win_allocate_shared(rank == 0 ? 4096 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&mine),
                                &window_);
        MPI_Aint bytes = 0;
        int unit = 0;
        MPI_Win_shared_query(window_, 0, &bytes, &unit, static_cast<void*>(&word_));
        if (rank == 0) std::atomic_ref(*word_).store(0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    ~Flag() { MPI_Win_free(&window_); }
    Flag(Flag const&) = delete;
    Flag& operator=(Flag const&) = delete;
    void raise() { ++std::atomic_ref(*word_); }
    std::uint32_t value() const { return std::atomic_ref(*word_).load(); }

  private:
    MPI_Win window_ = MPI_WIN_NULL;
    std::uint32_t* word_ = nullptr;
};

std::vector<double> values(int rank, std::uint64_t id, std::size_t count) {
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<double>(rank) * 1e6 + static_cast<double>(id) * 1e3 + static_cast<double>(i);
    return values;
}

Task fetch_one(Store& store, Key key, std::vector<double>& result) {
    FetchResult const fetched = co_await store.fetch_all(FetchRequest{key, FetchRequest::k_any});
    result.assign(fetched.as<double>(0).begin(), fetched.as<double>(0).end());
}

SLUICE_NEEDS_RANKS(2, Background, data_that_lie_side_by_side_are_served_while_their_owner_computes);
SLUICE_NEEDS_RANKS(2, Background, none_of_the_programs_code_runs_on_the_helper_thread);
SLUICE_NEEDS_RANKS(2, Background, no_other_thread_calls_mpi_for_a_store_that_has_nothing_to_do);
SLUICE_NEEDS_RANKS(2, Background, a_set_that_it_has_completed_is_no_reason_to_go_beyond_the_limit);

TEST(Background, data_that_lie_side_by_side_are_served_while_their_owner_computes) {
    if (!has_threads()) GTEST_SKIP() << "MPI gives no MPI_THREAD_MULTIPLE";
    Context context(MPI_COMM_WORLD);
    Flag flag;
    for (std::size_t const count : {std::size_t{0}, std::size_t{1}, std::size_t{5000}, std::size_t{300'000}}) {
        auto const here = static_cast<std::uint32_t>(context.size() - 1);
        std::uint32_t const before = flag.value();
        MPI_Barrier(MPI_COMM_WORLD);
        Store store(context);
        std::vector<double> const data = values(0, 7, count);
        if (context.rank() == 0) {
            store.publish({0, 7, 0}, std::as_bytes(std::span(data)), context.size() - 1);
            while (flag.value() < before + here) {  // a computation: it calls neither MPI nor the store
            }
            EXPECT_GT(store.report().moved_in_background, 0U);
        } else {
            std::vector<double> result;
            Tasks tasks(context);
            tasks.spawn(fetch_one(store, {0, 7, 0}, result));
            tasks.run();
            EXPECT_EQ(result, data);
            flag.raise();
        }
        store.finish();
    }
}

/// A program may call MPI_Finalize then, and no other thread may be inside MPI.
TEST(Background, no_other_thread_calls_mpi_for_a_store_that_has_nothing_to_do) {
    if (!has_threads()) GTEST_SKIP() << "MPI gives no MPI_THREAD_MULTIPLE";
    Context context(MPI_COMM_WORLD);
    Store store(context);
    unsigned const before = g_looks_beside;
    std::this_thread::sleep_for(50ms);  // longer than many pauses of the helper thread
    EXPECT_EQ(g_looks_beside, before);
    std::array<std::byte, 8> const data{};
    store.publish({context.rank(), 1, 0}, data);
    while (g_looks_beside == before) {
    }
    store.withdraw({context.rank(), 1, 0});
    store.finish();
}

TEST(Background, none_of_the_programs_code_runs_on_the_helper_thread) {
    if (!has_threads()) GTEST_SKIP() << "MPI gives no MPI_THREAD_MULTIPLE";
    Context context(MPI_COMM_WORLD);
    Flag flag;
    Store store(context);
    auto const program = std::this_thread::get_id();
    int const next = (context.rank() + 1) % context.size();
    int packed = 0;
    store.publish({context.rank(), 1, 0}, 8_B, [&](std::span<std::byte> out) {
        EXPECT_EQ(std::this_thread::get_id(), program);
        ++packed;
        std::memset(out.data(), 1, out.size());
    });
    int done = 0;
    std::vector<FetchRequest> const wants{{{next, 1, 0}, 8}};
    store.fetch_all(wants, [&](FetchResult fetched, std::exception_ptr error) {
        EXPECT_EQ(std::this_thread::get_id(), program);
        EXPECT_EQ(error, nullptr);
        EXPECT_EQ(fetched.size(), 1U);
        ++done;
    });
    std::this_thread::sleep_for(10ms);
    flag.raise();
    while (flag.value() < static_cast<std::uint32_t>(context.size())) {
    }
    EXPECT_EQ(packed, 0);  // until here the program has computed
    EXPECT_EQ(done, 0);
    while (done == 0)
        store.progress();
    store.finish();
    EXPECT_EQ(packed, 1);
}

TEST(Background, is_off_where_the_setting_says_so) {
    Settings settings = Settings::from_environment();
    settings.progress = ProgressBy::tasks;
    Context context(MPI_COMM_WORLD, settings);
    Store store(context);
    std::vector<double> const data = values(context.rank(), 1, 10);
    store.publish({context.rank(), 1, 0}, std::as_bytes(std::span(data)));
    std::vector<double> result;
    Tasks tasks(context);
    int const next = (context.rank() + 1) % context.size();
    tasks.spawn(fetch_one(store, {next, 1, 0}, result));
    std::this_thread::sleep_for(5ms);
    tasks.run();
    store.finish();
    EXPECT_EQ(result, values(next, 1, 10));
    EXPECT_EQ(store.report().moved_in_background, 0U);
}

Task live(Store& store, Context const& context, std::uint64_t id, int steps, std::uint64_t ids,
          std::vector<std::vector<double>>& kept, int& wrong) {
    std::minstd_rand random(static_cast<unsigned>(id + 100 * static_cast<std::uint64_t>(context.rank())));
    for (int step = 0; step < steps; ++step) {
        auto const epoch = static_cast<std::uint64_t>(step);
        auto& data = kept[id * static_cast<std::uint64_t>(steps) + epoch];
        data = values(context.rank(), id + epoch, random() % 3 == 0 ? 20'000 : 10);
        Key const own{context.rank(), id, epoch};
        if (random() % 2 == 0)
            store.publish(own, std::as_bytes(std::span(data)), context.size());
        else
            store.publish(
                own, {data.size() * sizeof(double)},
                [&data](std::span<std::byte> out) { std::memcpy(out.data(), data.data(), out.size()); },
                context.size());
        std::vector<FetchRequest> wants;
        for (int rank = 0; rank < context.size(); ++rank)
            wants.push_back({{rank, (id + epoch) % ids, epoch}, FetchRequest::k_any});
        FetchResult const fetched = co_await store.fetch_all(wants);
        for (int rank = 0; rank < context.size(); ++rank) {
            auto const got = fetched.as<double>(static_cast<std::size_t>(rank));
            auto const right = values(rank, (id + epoch) % ids + epoch, got.size());
            wrong += std::equal(got.begin(), got.end(), right.begin(), right.end()) ? 0 : 1;
        }
        if (random() % 8 == 0) std::this_thread::sleep_for(2ms);  // computes
        co_await store.all_have_it(own);
    }
}

TEST(Background, tasks_get_what_they_asked_for_whoever_moved_it) {
    for (char const* const memory : {"0", "200KiB"}) {
        Settings settings = Settings::from_environment();
        settings.set("fetch_memory", memory);
        Context context(MPI_COMM_WORLD, settings);
        Store store(context);
        constexpr std::uint64_t k_ids = 12;
        constexpr int k_steps = 6;
        std::vector<std::vector<double>> kept(k_ids * k_steps);
        int wrong = 0;
        Tasks tasks(context);
        for (std::uint64_t id = 0; id < k_ids; ++id)
            tasks.spawn(live(store, context, id, k_steps, k_ids, kept, wrong));
        tasks.run();
        store.finish();
        EXPECT_EQ(wrong, 0);
        EXPECT_EQ(store.report().sets, k_ids * k_steps);
        EXPECT_EQ(store.report().held, Bytes{0});
    }
}

TEST(Background, a_set_that_it_has_completed_is_no_reason_to_go_beyond_the_limit) {
    if (!has_threads()) GTEST_SKIP() << "MPI gives no MPI_THREAD_MULTIPLE";
    Settings settings = Settings::from_environment();
    settings.fetch_memory = 1_B;  // one set at a time
    Context context(MPI_COMM_WORLD, settings);
    Store store(context);
    int const next = (context.rank() + 1) % context.size();
    std::vector<double> const data = values(context.rank(), 1, 1000);
    for (std::uint64_t id = 1; id <= 2; ++id)
        store.publish({context.rank(), id, 0}, std::as_bytes(std::span(data)), 1);
    int done = 0;
    for (std::uint64_t id = 1; id <= 2; ++id)
        store.fetch_all(std::vector<FetchRequest>{{{next, id, 0}, 8000}},
                        [&](FetchResult const&, std::exception_ptr error) {
                            EXPECT_EQ(error, nullptr);
                            ++done;
                        });
    while (store.report().fetched_bytes < 8000_B)  // the helper thread brings the first set
        std::this_thread::sleep_for(1ms);
    engine::ContextState::of(context).progress().stall();  // a rank that was stopped after a look without result
    store.wait_until([&] { return done == 2; });
    EXPECT_EQ(store.report().beyond, 0U);
    store.finish();
}

}  // namespace
}  // namespace sluice::fetch
