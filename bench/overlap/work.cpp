// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/work.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace sluice::bench {

namespace {

constexpr std::uint64_t k_measured_steps = 1 << 20;  // some milliseconds
constexpr int k_measurements = 8;

inline std::uint64_t stepped(std::uint64_t state) {
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
    return state;
}

}  // namespace

[[gnu::noinline]] std::uint64_t compute(std::uint64_t steps) {
    std::uint64_t number = 0x2545f4914f6cdd1dU + steps;
    for (std::uint64_t step = 0; step < steps; ++step)
        number = stepped(number);
    return number;
}

[[gnu::noinline]] PassResult pass_over(std::span<std::byte const> data, std::uint64_t steps_a_word) {
    constexpr std::size_t k_step = sizeof(std::uint64_t);
    PassResult result;
    std::size_t at = 0;
    for (; at + k_step <= data.size(); at += k_step) {
        std::uint64_t word = 0;
        std::memcpy(&word, data.data() + at, k_step);
        result.sum += word;
        for (std::uint64_t step = 0; step < steps_a_word; ++step)
            result.state = stepped(result.state ^ word);
    }
    for (; at < data.size(); ++at)
        result.sum += static_cast<std::uint64_t>(data[at]);
    return result;
}

double steps_a_second() {
    double fastest = 0;
    for (int i = 0; i < k_measurements; ++i) {
        auto const begin = std::chrono::steady_clock::now();
        keep(compute(k_measured_steps));
        std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
        fastest = std::max(fastest, static_cast<double>(k_measured_steps) / took.count());
    }
    return fastest;
}

void keep(std::uint64_t result) {
    __asm__ volatile("" : : "r"(result) : "memory");
}

}  // namespace sluice::bench
