// SPDX-License-Identifier: BSD-3-Clause
// NPB FT: three arrays. The setup transforms u1 into u0, twice (the first run warms up); then each step transforms u1
// into u2. A transpose is packed into its second array, goes back to the first in one all-to-all, and is unpacked. So
// u0 is used in the setup alone, and an all-to-all uses two arrays. Its blocks are messages: all under way at once
// (linear, the default of these shapes), or one pair after the other (pairwise); or the two arrays are one region each
// (whole), as a wrapper of MPI_Alltoall sees them.
#include <algorithm>
#include <array>
#include <numeric>

#include "registration/shapes/shapes.hpp"

namespace sluice::bench {

namespace {

enum class AllToAll : std::uint8_t { linear, pairwise, whole };

struct Ft {
    std::uint64_t array_bytes;  // of one array on one rank
    double step_seconds;
    int steps;
    int ranks;  // of the all-to-all
    AllToAll how = AllToAll::linear;
};

void all_to_all(Author& author, int site, Range from, Range to, std::vector<int> const& remote, int ranks,
                AllToAll how) {
    if (how == AllToAll::whole)
        return author.exchange({{site, Kind::collective_send, from}, {site, Kind::collective_receive, to}});
    std::uint64_t const block = from.bytes / static_cast<std::uint64_t>(ranks);
    std::vector<Message> messages;
    for (int const peer : remote) {
        std::uint64_t const offset = static_cast<std::uint64_t>(peer) * block;
        messages.push_back({site, Kind::receive, Author::part(to, offset, block)});
        messages.push_back({site, Kind::send, Author::part(from, offset, block)});
        if (how == AllToAll::linear) continue;
        author.exchange(messages);
        messages.clear();
    }
    if (!messages.empty()) author.exchange(messages);
}

std::vector<int> all_but_first(int ranks) {
    std::vector<int> others(static_cast<std::size_t>(ranks - 1));
    std::iota(others.begin(), others.end(), 1);
    return others;
}

/// One dimension: one all-to-all over all ranks in each transform.
Stream ft_1d(Ft const& of) {
    Author author(k_npb_noise);
    Range const u0 = author.allocate(of.array_bytes);
    Range const u1 = author.allocate(of.array_bytes);
    Range const u2 = author.allocate(of.array_bytes);
    auto const others = all_but_first(of.ranks);
    for (int setup = 0; setup < 2; ++setup) {
        author.compute(0.5 * of.step_seconds);  // indices and initial conditions
        author.compute(0.6 * of.step_seconds);
        all_to_all(author, 0, u0, u1, others, of.ranks, of.how);
        author.compute(0.3 * of.step_seconds);
    }
    for (int step = 0; step < of.steps; ++step) {
        author.compute(0.4 * of.step_seconds);  // evolve, first transforms
        all_to_all(author, 1, u2, u1, others, of.ranks, of.how);
        author.compute(0.6 * of.step_seconds);
    }
    return author.take();
}

/// Two dimensions, 2 × 8 ranks, of which some share the node: their blocks go through shared memory. `rank` and `node`
/// are numbers of ranks 0 to 15.
Stream ft_2d(int rank, std::vector<int> const& node, Ft const& of) {
    Author author(k_npb_noise, static_cast<std::uint64_t>(rank) + 1);
    Range const u0 = author.allocate(of.array_bytes);
    Range const u1 = author.allocate(of.array_bytes);
    Range const u2 = author.allocate(of.array_bytes);
    auto const is_remote = [&](int peer) { return std::find(node.begin(), node.end(), peer) == node.end(); };
    std::vector<int> remote_of_2;
    std::vector<int> remote_of_8;
    if (int const peer = (rank + 8) % 16; is_remote(peer)) remote_of_2.push_back(peer / 8);
    for (int i = 0; i < 8; ++i)
        if (is_remote(rank / 8 * 8 + i)) remote_of_8.push_back(i);
    auto const transform = [&](int site, Range in, Range out) {
        author.compute(0.4 * of.step_seconds);
        all_to_all(author, site, out, in, remote_of_8, 8, of.how);
        author.compute(0.3 * of.step_seconds);
        all_to_all(author, site + 1, in, out, remote_of_2, 2, of.how);
        author.compute(0.3 * of.step_seconds);
    };
    for (int setup = 0; setup < 2; ++setup) {
        author.compute(0.5 * of.step_seconds);
        transform(0, u1, u0);
    }
    for (int step = 0; step < of.steps; ++step)
        transform(2, u1, u2);
    return author.take();
}

std::vector<Stream> ft_node(std::vector<int> const& node) {
    // Class C: 512³ complex numbers on 16 ranks, 104 s in 20 steps (the paper's Table 3).
    Ft const of{std::uint64_t{512} * 512 * 512 * 16 / 16, 104.05 / 22, 20, 16};
    std::vector<Stream> streams;
    streams.reserve(node.size());
    for (int const rank : node)
        streams.push_back(ft_2d(rank, node, of));
    return streams;
}

Shape one_rank(std::string name, std::string made_from, std::optional<double> saving, Ft const& of) {
    return {std::move(name), std::move(made_from), saving, [of] { return std::vector<Stream>{ft_1d(of)}; }};
}

/// Class D: 2048 × 1024 × 1024 complex numbers; the seconds of the paper's Table 4 for 25 steps and two of the setup.
Shape scaled(std::string name, double saving, int ranks, std::uint64_t array_bytes, double seconds) {
    return one_rank(std::move(name), "NPB FT, one dimension, " + std::to_string(ranks) + " ranks, linear", saving,
                    {array_bytes, seconds / 27, 25, ranks});
}

}  // namespace

std::vector<Shape> ft_shapes() {
    constexpr std::uint64_t k_class_b = std::uint64_t{512} * 256 * 256 * 16 / 4;
    constexpr std::uint64_t k_class_d = std::uint64_t{2048} * 1024 * 1024 * 16;
    Ft const b{k_class_b, 79.50 / 22, 20, 4};
    Ft pairwise = b;
    pairwise.how = AllToAll::pairwise;
    Ft whole = b;
    whole.how = AllToAll::whole;
    return {
        one_rank("ft", "NPB FT.B.4, one dimension; blocks of an all-to-all all at once", 31.0, b),
        one_rank("ft_pairwise", "the same, a pair of blocks after the other", 31.0, pairwise),
        one_rank("ft_whole", "the same, whole arrays as regions", 31.0, whole),
        {"tasks1", "NPB FT.C.16, 2 × 8 ranks, four on the node: one of each second column (0, 2, 12, 14)", 49.39,
         [] {
             return ft_node({0, 2, 12, 14});
         }},
        {"tasks2", "the same, four neighbours of one row (0, 1, 2, 3)", 41.70,
         [] {
             return ft_node({0, 1, 2, 3});
         }},
        scaled("strong16", 33.19, 16, k_class_d / 16, 2085.86),
        scaled("strong32", 34.08, 32, k_class_d / 32, 1056.00),
        scaled("strong64", 31.70, 64, k_class_d / 64, 518.53),
        scaled("weak16", 33.05, 16, k_class_d / 32, 1039.46),
        scaled("weak64", 33.09, 64, k_class_d / 32, 1092.23),
    };
}

}  // namespace sluice::bench
