// SPDX-License-Identifier: BSD-3-Clause
/// Publications whose bytes are not in memory: they are brought at once, later, in another order, or never.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "fetch/fetch_bed.hpp"
#include "sluice/fetch.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {
namespace {

/// The source of data: it brings what was requested last first, and only when the test tells it to.
class Elsewhere {
  public:
    Store::DataSource bring(Key const& key, std::uint64_t bytes) {
        return [this, key, bytes](Store::DataSink brought) { asked_.push_back({key, bytes, std::move(brought)}); };
    }
    bool bring_one() {
        if (asked_.empty()) return false;
        Asked const asked = std::move(asked_.back());
        asked_.pop_back();
        asked.brought(bytes_of(asked.key, asked.bytes), nullptr);
        return true;
    }
    std::size_t asked() const { return asked_.size(); }

  private:
    struct Asked {
        Key key;
        std::uint64_t bytes;
        Store::DataSink brought;
    };
    std::vector<Asked> asked_;
};

Task bring_until(Elsewhere& elsewhere, bool const& done, std::size_t& most) {
    while (!done) {
        for (int turn = 0; turn < 50; ++turn)
            co_await yielded();
        most = std::max(most, elsewhere.asked());
        elsewhere.bring_one();
    }
}

Task fetch_each(Store& store, int owner, int keys, std::uint64_t bytes, int& right) {
    std::vector<FetchRequest> wants;
    for (int id = 0; id < keys; ++id)
        wants.push_back({{owner, static_cast<std::uint64_t>(id), 0}, bytes});
    FetchResult const fetched = co_await store.fetch_all(wants);
    for (std::size_t i = 0; i < wants.size(); ++i)
        right += is_right(fetched, i, wants[i].key, bytes) ? 1 : 0;
}

Task until_all_are_here(MPI_Request& request, bool& done) {
    co_await completed(request);
    done = true;
}

TEST(Elsewhere, is_brought_in_any_order_while_others_are_served) {
    constexpr int k_keys = 12;
    Context context(MPI_COMM_WORLD);
    Elsewhere elsewhere;
    Store store(context);
    for (int id = 0; id < k_keys; ++id) {
        Key const key{context.rank(), static_cast<std::uint64_t>(id), 0};
        store.publish_lazily(key, 3000_B, elsewhere.bring(key, 3000), 2);
    }
    Tasks tasks(context);
    int right = 0;
    bool done = false;
    std::size_t most = 0;
    int const peer = (context.rank() + 1) % context.size();
    tasks.spawn([](Store& from, int there, int here, int& count, bool& finished) -> Task {
        co_await fetch_each(from, there, k_keys, 3000, count);
        co_await fetch_each(from, here, k_keys, 3000, count);  // also the rank's own data
        MPI_Request all_have_theirs = MPI_REQUEST_NULL;
        MPI_Ibarrier(MPI_COMM_WORLD, &all_have_theirs);
        co_await until_all_are_here(all_have_theirs, finished);
    }(store, peer, context.rank(), right, done));
    tasks.spawn(bring_until(elsewhere, done, most));
    tasks.run();
    EXPECT_EQ(right, 2 * k_keys);
    EXPECT_GT(most, 1U);  // several were on their way at once
    store.finish();
    EXPECT_EQ(store.report().held, 0_B);
}

SLUICE_NEEDS_RANKS(2, Elsewhere,
                   comes_one_after_the_other_where_serving_has_memory_for_one);  // with one rank nothing is sent
TEST(Elsewhere, comes_one_after_the_other_where_serving_has_memory_for_one) {
    constexpr int k_keys = 12;
    Settings settings = Settings::from_environment();
    settings.serve_memory = 1_B;
    Context context(MPI_COMM_WORLD, settings);
    Elsewhere elsewhere;
    Store store(context);
    for (int id = 0; id < k_keys; ++id) {
        Key const key{context.rank(), static_cast<std::uint64_t>(id), 0};
        store.publish_lazily(key, 3000_B, elsewhere.bring(key, 3000), 1);
    }
    Tasks tasks(context);
    int right = 0;
    bool done = false;
    std::size_t most = 0;
    tasks.spawn([](Store& from, int there, int& count, bool& finished) -> Task {
        co_await fetch_each(from, there, k_keys, 3000, count);
        MPI_Request all_have_theirs = MPI_REQUEST_NULL;
        MPI_Ibarrier(MPI_COMM_WORLD, &all_have_theirs);
        co_await until_all_are_here(all_have_theirs, finished);
    }(store, (context.rank() + 1) % context.size(), right, done));
    tasks.spawn(bring_until(elsewhere, done, most));
    tasks.run();
    EXPECT_EQ(right, k_keys);
    EXPECT_EQ(most, 1U);
}

TEST(Elsewhere, that_cannot_be_brought_is_an_error_at_the_reader) {
    Context context(MPI_COMM_WORLD);
    Store store(context);
    store.publish_lazily({context.rank(), 1, 0}, 64_B, [](Store::DataSink const& brought) {
        brought({}, std::make_exception_ptr(std::runtime_error("the shelf is empty")));
    });
    store.publish_lazily({context.rank(), 2, 0}, 64_B, [](Store::DataSink const& brought) {
        std::vector<std::byte> const less(63);
        brought(less, nullptr);
    });
    Tasks tasks(context);
    std::string missing;
    std::string short_of_one;
    int const peer = (context.rank() + 1) % context.size();
    tasks.spawn(fault_of(store, {{{peer, 1, 0}, 64}}, missing));
    tasks.spawn(fault_of(store, {{{peer, 2, 0}, 64}}, short_of_one));
    tasks.run();
    EXPECT_NE(missing.find("it could not bring the data: the shelf is empty"), std::string::npos) << missing;
    EXPECT_NE(short_of_one.find("it has published 64 bytes and brought 63"), std::string::npos) << short_of_one;
    store.finish();
}

TEST(Elsewhere, of_a_source_that_throws_is_an_error_at_the_reader) {
    Context context(MPI_COMM_WORLD);
    Store store(context);
    int const next = (context.rank() + 1) % context.size();
    store.publish_lazily({context.rank(), 1, 0}, 64_B,
                         [](Store::DataSink const&) { throw std::runtime_error("no memory to read with"); });
    Tasks tasks(context);
    std::string fault;
    tasks.spawn(fault_of(store, {{{next, 1, 0}, 64_B}}, fault));
    tasks.run();
    EXPECT_NE(fault.find("it could not bring the data: no memory to read with"), std::string::npos) << fault;
    store.finish();
}

Task throw_when_asked(Elsewhere const& elsewhere) {
    while (elsewhere.asked() == 0)
        co_await yielded();
    throw std::runtime_error("something else");
}

TEST(Elsewhere, may_come_when_the_store_is_gone) {
    Context context(MPI_COMM_WORLD);
    Elsewhere elsewhere;
    Key const key{context.rank(), 3, 0};
    try {
        Store store(context);
        store.publish_lazily(key, 100_B, elsewhere.bring(key, 100));
        int right = 0;
        Tasks tasks(context);
        tasks.spawn(fetch_each(store, context.rank(), 4, 100, right));
        tasks.spawn(throw_when_asked(elsewhere));
        tasks.run();
    } catch (std::runtime_error const&) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    EXPECT_TRUE(elsewhere.bring_one());
}

}  // namespace
}  // namespace sluice::tests
