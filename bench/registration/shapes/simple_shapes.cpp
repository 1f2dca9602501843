// SPDX-License-Identifier: BSD-3-Clause
#include "registration/shapes/shapes.hpp"

namespace sluice::bench {

namespace {

constexpr std::uint64_t k_mib = 1 << 20;

/// The sender of the paper's Figure 1: three sends an iteration, a second of work after each.
Stream figure_1(bool reuses) {
    constexpr int k_iterations = 10;
    constexpr std::uint64_t k_message = 5'000'000;
    Author author;
    std::vector<Range> buffers(3);
    for (int i = 0; i < k_iterations; ++i)
        for (int b = 0; b < 3; ++b) {
            Range& buffer = buffers[static_cast<std::size_t>(b)];
            if (!reuses || i == 0) buffer = author.allocate(k_message);
            author.send(b, buffer);
            author.compute(1);
        }
    return author.take();
}

/// Buffers in turn, with work between.
Stream in_turn(int buffers, std::uint64_t bytes, double work, int iterations, Noise noise) {
    Author author(noise);
    std::vector<Range> of_turn(static_cast<std::size_t>(buffers));
    for (Range& buffer : of_turn)
        buffer = author.allocate(bytes);
    for (int i = 0; i < iterations; ++i) {
        for (int b = 0; b < buffers; ++b) {
            author.send(b, of_turn[static_cast<std::size_t>(b)]);
            author.compute(work);
        }
        author.next_step();
    }
    return author.take();
}

/// The paper's Figure 4: the first call of a loop follows the other loop, so its site has three periods.
Stream loops_in_a_loop() {
    Author author({0.005, 0, false});
    Range const one = author.allocate(4 * k_mib);
    Range const two = author.allocate(4 * k_mib);
    for (int outer = 0; outer < 40; ++outer) {
        for (int i = 0; i < 10; ++i) {
            author.compute(0.03);
            author.send(1, one);
        }
        for (int i = 0; i < 6; ++i) {
            author.compute(0.08);
            author.send(2, two);
        }
    }
    return author.take();
}

Shape shape(std::string name, std::string made_from, std::optional<double> saving, std::function<Stream()> make) {
    return {std::move(name), std::move(made_from), saving,
            [make = std::move(make)] { return std::vector<Stream>{make()}; }};
}

}  // namespace

std::vector<Shape> simple_shapes() {
    constexpr char const* k_turns = "eight buffers of 4 MiB in turn, 50 ms of work between";
    auto const turns = [](Noise noise) { return [noise] { return in_turn(8, 4 * k_mib, 0.05, 50, noise); }; };
    return {
        shape("figure1_reuse", "the sender of Figure 1: 10 iterations, 3 buffers of 5 MB, 1 s of work", 24.75,
              [] { return figure_1(true); }),
        shape("figure1_no_reuse", "the same with a new buffer for each message: leave pinned has 4.62 times as much",
              78.4, [] { return figure_1(false); }),
        shape("loops", "Figure 4: a loop of 10 and one of 6 messages in an outer loop, work within 0.5 %", {},
              loops_in_a_loop),
        shape("regular", k_turns, {}, turns({})),
        shape("noisy", std::string(k_turns) + " that varies by 2 %, uniformly", {}, turns({0.02, 0, false})),
        shape("very_noisy", std::string(k_turns) + " that varies by 20 %, uniformly", {}, turns({0.2, 0, false})),
        shape("drifting", std::string(k_turns) + " that becomes 1 % longer with each round", {},
              turns({0, 0.01, false})),
        shape("random", std::string(k_turns) + ", exponentially distributed", {}, turns({0, 0, true})),
    };
}

std::vector<Shape> const& shapes() {
    static std::vector<Shape> const all = [] {
        std::vector<Shape> joined = simple_shapes();
        for (auto const& more : {npb_shapes(), ft_shapes()})
            joined.insert(joined.end(), more.begin(), more.end());
        return joined;
    }();
    return all;
}

}  // namespace sluice::bench
