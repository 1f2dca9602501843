// SPDX-License-Identifier: BSD-3-Clause
/// A random graph of tasks, and the results that it must give.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "sluice/fetch.hpp"

namespace sluice::tests {

inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    a ^= b + 0x9e37'79b9'7f4a'7c15ULL + (a << 6) + (a >> 2);
    a *= 0xbf58'476d'1ce4'e5b9ULL;
    return a ^ (a >> 31);
}

/// Every task of an epoch needs some results of the epoch before, from any ranks, and makes one of its own. The graph
/// is the same on all ranks.
struct Graph {
    std::uint64_t seed;
    int ranks;
    std::uint64_t tasks;   // of each rank
    std::uint64_t epochs;  // epochs that fetch

    std::uint64_t words(Key const& key) const {
        std::uint64_t const kind =
            mixed(seed, mixed(static_cast<std::uint64_t>(key.owner) + 77, mixed(key.id, key.epoch)));
        return kind % 5 == 0 ? 3000 + kind % 20'000 : 1 + kind % 300;
    }
    std::vector<Key> inputs(Key const& key) const {
        std::minstd_rand random(static_cast<unsigned>(
            mixed(seed + 1, mixed(static_cast<std::uint64_t>(key.owner), mixed(key.id, key.epoch)))));
        std::vector<Key> inputs(random() % 7);
        for (Key& input : inputs)
            input = {static_cast<int>(random() % static_cast<unsigned>(ranks)), random() % tasks, key.epoch - 1};
        return inputs;
    }
    /// Returns how often each key is fetched.
    std::map<std::tuple<int, std::uint64_t, std::uint64_t>, int> readers() const {
        std::map<std::tuple<int, std::uint64_t, std::uint64_t>, int> count;
        for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch)
            for (int rank = 0; rank < ranks; ++rank)
                for (std::uint64_t id = 0; id < tasks; ++id)
                    for (Key const& input : inputs({rank, id, epoch}))
                        ++count[{input.owner, input.id, input.epoch}];
        return count;
    }
    /// Returns the consumers of the result of `key`, each as (rank, task, place among its inputs).
    std::vector<std::tuple<int, std::uint64_t, std::size_t>> consumers(Key const& key) const {
        std::vector<std::tuple<int, std::uint64_t, std::size_t>> found;
        if (key.epoch == epochs) return found;
        for (int rank = 0; rank < ranks; ++rank)
            for (std::uint64_t id = 0; id < tasks; ++id) {
                std::vector<Key> const needed = inputs({rank, id, key.epoch + 1});
                for (std::size_t place = 0; place < needed.size(); ++place)
                    if (needed[place] == key) found.emplace_back(rank, id, place);
            }
        return found;
    }
    std::uint64_t first(int rank, std::uint64_t id) const {
        return mixed(seed + 2, mixed(static_cast<std::uint64_t>(rank), id));
    }
    static std::uint64_t word(std::uint64_t value, std::uint64_t i) { return mixed(value, i); }

    /// Computes by the sequential model the values of the last epoch, by rank and id.
    std::vector<std::vector<std::uint64_t>> model() const {
        std::vector<std::vector<std::uint64_t>> values(static_cast<std::size_t>(ranks),
                                                       std::vector<std::uint64_t>(tasks));
        for (int rank = 0; rank < ranks; ++rank)
            for (std::uint64_t id = 0; id < tasks; ++id)
                values[static_cast<std::size_t>(rank)][id] = first(rank, id);
        for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch) {
            auto next = values;
            for (int rank = 0; rank < ranks; ++rank)
                for (std::uint64_t id = 0; id < tasks; ++id) {
                    std::uint64_t value = values[static_cast<std::size_t>(rank)][id];
                    for (Key const& input : inputs({rank, id, epoch})) {
                        std::uint64_t const of = values[static_cast<std::size_t>(input.owner)][input.id];
                        for (std::uint64_t i = 0; i < words(input); ++i)
                            value = mixed(value, word(of, i));
                    }
                    next[static_cast<std::size_t>(rank)][id] = value;
                }
            values = next;
        }
        return values;
    }
};

}  // namespace sluice::tests
