// SPDX-License-Identifier: BSD-3-Clause
/// Random task graphs, by both schemes, compared with a sequential model: every result is sent to each task that needs
/// it as soon as it exists, or it is fetched.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstring>
#include <string>
#include <vector>

#include "fetch/task_graph.hpp"
#include "sluice/fetch.hpp"
#include "support/effort.hpp"

namespace sluice::tests {
namespace {

constexpr std::uint64_t k_most_inputs = 8;

struct Scheme {
    std::string name;
    Switch control;
    bool mixed;  // half of the results are fetched
    Bytes fetch_memory;
    std::uint64_t tokens;
};

void pack(std::uint64_t value, std::uint64_t words, std::span<std::byte> out) {
    for (std::uint64_t i = 0; i < words; ++i) {
        std::uint64_t const word = Graph::word(value, i);
        std::memcpy(out.data() + 8 * i, &word, 8);
    }
}

class SendingGraph : public testing::TestWithParam<Scheme> {
  protected:
    /// The copy of `key` that belongs to one consumer.
    static Key sent_as(Key const& key, std::uint64_t consumer, std::size_t place) {
        return {key.owner, (key.id * 1000 + consumer) * k_most_inputs + place, key.epoch};
    }
    static bool is_fetched(Key const& key) { return GetParam().mixed && key.id % 2 == 0; }

    static void give(Store& store, Graph const& graph, Key const& key, std::uint64_t value) {
        std::uint64_t const words = graph.words(key);
        auto const consumers = graph.consumers(key);
        if (is_fetched(key)) {
            if (!consumers.empty())
                store.publish(
                    key, {words * 8}, [=](std::span<std::byte> out) { pack(value, words, out); },
                    static_cast<int>(consumers.size()));
            return;
        }
        for (auto const& [rank, task, place] : consumers)
            store.send(rank, sent_as(key, task, place), {words * 8},
                       [=](std::span<std::byte> out) { pack(value, words, out); });
    }

    static Task live(Store& store, Graph const& graph, int rank, std::uint64_t id, std::uint64_t& value) {
        value = graph.first(rank, id);
        give(store, graph, {rank, id, 0}, value);
        for (std::uint64_t epoch = 1; epoch <= graph.epochs; ++epoch) {
            std::vector<Key> const inputs = graph.inputs({rank, id, epoch});
            std::vector<FetchRequest> sent;
            std::vector<FetchRequest> fetched;
            for (std::size_t place = 0; place < inputs.size(); ++place) {
                Bytes const bytes = place % 3 == 2 ? FetchRequest::k_any : Bytes{graph.words(inputs[place]) * 8};
                if (is_fetched(inputs[place]))
                    fetched.push_back({inputs[place], bytes});
                else
                    sent.push_back({sent_as(inputs[place], id, place), bytes});
            }
            FetchResult const from_fetch = co_await store.fetch_all(fetched);
            FetchResult const from_send = co_await store.receive_all(sent);
            std::size_t at_fetched = 0;
            std::size_t at_sent = 0;
            for (Key const& input : inputs)
                for (std::uint64_t const word : is_fetched(input) ? from_fetch.as<std::uint64_t>(at_fetched++)
                                                                  : from_send.as<std::uint64_t>(at_sent++))
                    value = mixed(value, word);
            give(store, graph, {rank, id, epoch}, value);
        }
    }
};

TEST_P(SendingGraph, gives_what_a_sequential_model_gives) {
    Settings settings = Settings::from_environment();
    settings.fetch_memory = GetParam().fetch_memory;
    settings.serve_memory = GetParam().fetch_memory;
    settings.tokens = GetParam().tokens;
    settings.send_control = GetParam().control;
    Context context(MPI_COMM_WORLD, settings);
    int const rank = context.rank();
    for (int seed = 1; seed <= effort(3); ++seed) {
        Graph const graph{static_cast<std::uint64_t>(seed), context.size(), 10, 5};
        std::vector<std::uint64_t> values(graph.tasks);
        Store store(context);
        Tasks tasks(context);
        for (std::uint64_t id = 0; id < graph.tasks; ++id)
            tasks.spawn(live(store, graph, rank, id, values[id]));
        tasks.run();
        EXPECT_EQ(values, graph.model()[static_cast<std::size_t>(rank)]);
        store.finish();
        StoreReport const report = store.report();
        EXPECT_EQ(report.held, 0_B);
        EXPECT_EQ(report.uncontrolled_peak.count == 0, GetParam().control == Switch::on);
        constexpr std::uint64_t k_largest = 23'000 * 8;
        if (GetParam().name == "one_set") {
            EXPECT_LE(report.peak,
                      report.packed_peak + Bytes{6 * k_largest});  // one set, in addition to the packed data
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Fetch, SendingGraph,
                         testing::Values(Scheme{"plenty", Switch::on, false, 16_MiB, 0},
                                         Scheme{"one_set", Switch::on, false, 1_B, 0},
                                         Scheme{"some", Switch::on, false, 300_KiB, 0},
                                         Scheme{"token_1", Switch::on, false, 16_MiB, 1},
                                         Scheme{"uncontrolled", Switch::off, false, 16_MiB, 0},
                                         Scheme{"uncontrolled_one_set", Switch::off, false, 1_B, 0},
                                         Scheme{"both_schemes", Switch::on, true, 16_MiB, 0},
                                         Scheme{"both_schemes_one_set", Switch::on, true, 1_B, 0},
                                         Scheme{"both_schemes_tokens_2", Switch::on, true, 1_B, 2},
                                         Scheme{"both_schemes_uncontrolled", Switch::off, true, 100_KiB, 0}),
                         [](auto const& drawn) { return drawn.param.name; });

}  // namespace
}  // namespace sluice::tests
