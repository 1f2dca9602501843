// SPDX-License-Identifier: BSD-3-Clause
/// Random task graphs compared with a sequential model: every task of an epoch fetches some results of the epoch
/// before, from any ranks, and publishes one of its own.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "fetch/task_graph.hpp"
#include "sluice/fetch.hpp"

namespace sluice::tests {
namespace {

Task live(Store& store, Graph const& graph, std::map<std::tuple<int, std::uint64_t, std::uint64_t>, int> const& readers,
          int rank, std::uint64_t id, std::uint64_t& value) {
    auto const publish = [&](std::uint64_t epoch) {
        Key const key{rank, id, epoch};
        auto const found = readers.find({rank, id, epoch});
        if (found == readers.end()) return;
        std::uint64_t const words = graph.words(key);
        store.publish(
            key, {words * 8},
            [words, now = value](std::span<std::byte> out) {
                for (std::uint64_t i = 0; i < words; ++i) {
                    std::uint64_t const word = Graph::word(now, i);
                    std::memcpy(out.data() + 8 * i, &word, 8);
                }
            },
            found->second);
    };
    value = graph.first(rank, id);
    publish(0);
    for (std::uint64_t epoch = 1; epoch <= graph.epochs; ++epoch) {
        std::vector<Key> const inputs = graph.inputs({rank, id, epoch});
        std::vector<FetchRequest> wants;
        for (Key const& input : inputs)
            wants.push_back({input, input.id % 4 == 3 ? FetchRequest::k_any : Bytes{graph.words(input) * 8}});
        FetchResult const fetched = co_await store.fetch_all(wants);
        for (std::size_t k = 0; k < inputs.size(); ++k)
            for (std::uint64_t const word : fetched.as<std::uint64_t>(k))
                value = mixed(value, word);
        publish(epoch);
    }
}

struct Budgets {
    std::string name;
    Bytes fetch_memory;
    Bytes serve_memory;
    std::uint64_t tokens;
    Bytes window;
    FetchOrder order;
};

class TaskGraph : public testing::TestWithParam<Budgets> {};

TEST_P(TaskGraph, gives_what_a_sequential_model_gives) {
    Budgets const budgets = GetParam();
    Settings settings = Settings::from_environment();
    settings.fetch_memory = budgets.fetch_memory;
    settings.serve_memory = budgets.serve_memory;
    settings.tokens = budgets.tokens;
    settings.fetch_window = budgets.window;
    settings.fetch_order = budgets.order;
    Context context(MPI_COMM_WORLD, settings);
    int const rank = context.rank();
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        Graph const graph{seed, context.size(), 12, 6};
        auto const readers = graph.readers();
        std::vector<std::uint64_t> values(graph.tasks);
        Store store(context);
        Tasks tasks(context);
        for (std::uint64_t id = 0; id < graph.tasks; ++id)
            tasks.spawn(live(store, graph, readers, rank, id, values[id]));
        tasks.run();
        EXPECT_EQ(values, graph.model()[static_cast<std::size_t>(rank)]);
        store.finish();
        EXPECT_EQ(store.report().held, 0_B);
        if (budgets.fetch_memory.count == 1) {  // room for one set, and for one message that is served
            constexpr std::uint64_t k_largest = 23'000 * 8;
            EXPECT_LE(store.report().peak, Bytes{(6 + 1) * k_largest});
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Fetch, TaskGraph,
                         testing::Values(Budgets{"plenty", 0_B, 4_MiB, 0, 0_B, FetchOrder::posted},
                                         Budgets{"one_set", 1_B, 1_B, 0, 0_B, FetchOrder::posted},
                                         Budgets{"some", 500_KiB, 64_KiB, 0, 100_KiB, FetchOrder::posted},
                                         Budgets{"tokens_8", 0_B, 4_MiB, 8, 0_B, FetchOrder::posted},
                                         Budgets{"token_1", 0_B, 4_MiB, 1, 1_B, FetchOrder::posted},
                                         Budgets{"nearly_complete", 300_KiB, 4_MiB, 0, 0_B,
                                                 FetchOrder::nearly_complete},
                                         Budgets{"spread", 300_KiB, 4_MiB, 0, 0_B, FetchOrder::spread}),
                         [](auto const& drawn) { return drawn.param.name; });

}  // namespace
}  // namespace sluice::tests
