// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>

#include "memory/registration/cost_model.hpp"
#include "memory/registration/due_queue.hpp"
#include "memory/registration/predict/context_predictor.hpp"

namespace sluice::memory::registration {

namespace {

constexpr std::uintptr_t k_ranges = 128;
constexpr int k_rounds = 4;

template <class Step>
Time one_of(std::uint64_t steps, Step const& step) {
    auto const begin = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < steps; ++i)
        step(i);
    return std::chrono::duration_cast<Time>(std::chrono::steady_clock::now() - begin) / steps + Time(1);
}

}  // namespace

/// With tables as full as those of a program with many buffers.
StepCosts measure_steps() {
    Budget const tables(1_MiB);
    ContextPredictor predictor({}, tables);
    DueQueue due(tables);
    std::vector<Prediction> predictions;
    predictions.reserve(64);
    auto const range = [](std::uint64_t i) { return Range{(1 + i % k_ranges) << 24, 1 << 20}; };
    StepCosts costs;
    costs.event = one_of(k_ranges * k_rounds, [&](std::uint64_t i) {
        predictions.clear();
        predictor.learn({Time(static_cast<Time::rep>(i) * 1000), range(i), {}, Kind::send, What::begins, true},
                        predictions);
    });
    costs.insert = one_of(k_ranges * k_rounds, [&](std::uint64_t i) {
        Prediction prediction;
        prediction.signature = i % k_ranges;
        prediction.range = range(i);
        prediction.deadline = Time(static_cast<Time::rep>(i * 7919 % k_ranges));
        due.put(prediction, false);
    });
    Time seen{};
    costs.update = one_of(k_ranges * k_rounds, [&](std::uint64_t i) { seen = std::max(seen, due.earliest(range(i))); });
    if (seen == Time(-1)) costs.update = seen;  // keeps the loop above
    return costs;
}

}  // namespace sluice::memory::registration
