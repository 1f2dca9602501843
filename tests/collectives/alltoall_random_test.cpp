// SPDX-License-Identifier: BSD-3-Clause
/// All-to-alls with random counts, displacements, datatypes and windows, by every algorithm, against MPI_Alltoallv: all
/// bytes of the buffer that receives, with gaps and guards, must be those that MPI leaves there.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "sluice/alltoall.hpp"
#include "support/effort.hpp"
#include "support/property.hpp"
#include "support/random_type.hpp"

namespace sluice::tests {
namespace {

struct AlltoallCase {
    std::uint64_t seed = 0;
    std::uint64_t most_count = 0;  ///< elements of a block at most
    std::uint64_t depth = 0;       ///< of the datatype
    std::uint64_t algorithm = 0;
    std::uint64_t window = 0;
    bool is_planned = false;

    std::vector<std::uint64_t> encode() const {
        return {seed, most_count, depth, algorithm, window, is_planned ? std::uint64_t{1} : 0};
    }
    static AlltoallCase decode(std::vector<std::uint64_t> const& code) {
        return {code[0], code[1], code[2], code[3], code[4], code[5] != 0};
    }
    AlltoallAlgorithm by() const { return static_cast<AlltoallAlgorithm>(algorithm); }
    friend std::ostream& operator<<(std::ostream& out, AlltoallCase const& drawn) {
        return out << "seed " << drawn.seed << ", at most " << drawn.most_count << " elements, depth " << drawn.depth
                   << ", " << name_of(drawn.by()) << ", window " << drawn.window
                   << (drawn.is_planned ? ", planned" : "");
    }
};

rc::Gen<AlltoallCase> any_case() {
    return rc::gen::apply(
        [](std::uint64_t seed, std::uint64_t most, std::uint64_t depth, std::uint64_t algorithm, std::uint64_t window,
           bool is_planned) { return AlltoallCase{seed, most, depth, algorithm, window, is_planned}; },
        rc::gen::inRange<std::uint64_t>(0, 1'000'000), rc::gen::element<std::uint64_t>(0, 1, 2, 5, 40, 300, 3000),
        rc::gen::inRange<std::uint64_t>(0, 4), rc::gen::inRange<std::uint64_t>(0, 5),
        rc::gen::element<std::uint64_t>(4096, 20'000, 1 << 20), rc::gen::arbitrary<bool>());
}

/// The elements of the block from one rank to another: a fourth of the blocks are empty.
std::int64_t drawn_count(AlltoallCase const& drawn, int from, int to) {
    std::mt19937_64 random(drawn.seed * 7919 + static_cast<std::uint64_t>(from) * 131 + static_cast<std::uint64_t>(to));
    if (random() % 4 == 0) return 0;
    return static_cast<std::int64_t>(random() % (drawn.most_count + 1));
}

/// The blocks of a side in a random order, with gaps of some elements.
struct DrawnSide {
    std::vector<std::int64_t> counts;
    std::vector<std::int64_t> places;
    std::vector<int> narrow_counts;
    std::vector<int> narrow_places;
    std::int64_t elements = 0;

    void place(std::mt19937_64& random) {
        std::vector<std::size_t> order(counts.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::shuffle(order.begin(), order.end(), random);
        places.resize(counts.size());
        for (std::size_t const i : order) {
            elements += static_cast<std::int64_t>(random() % 3);
            places[i] = elements;
            elements += counts[i];
        }
        narrow_counts.assign(counts.begin(), counts.end());
        narrow_places.assign(places.begin(), places.end());
    }
};

/// Returns the index of the first byte that differs, or nothing.
std::string difference(TypedBlock const& a, TypedBlock const& b) {
    auto const found = std::mismatch(a.bytes().begin(), a.bytes().end(), b.bytes().begin(), b.bytes().end());
    if (found.first == a.bytes().end()) return {};
    return "byte " + std::to_string(found.first - a.bytes().begin()) + " of " + std::to_string(a.bytes().size()) +
           " is not that of MPI_Alltoallv";
}

std::string try_case(Context& context, AlltoallCase const& drawn) {
    std::mt19937_64 shared(drawn.seed);  // the type is the same on all ranks, the places are not
    DrawnType const type = draw_type(shared, static_cast<int>(drawn.depth));
    std::mt19937_64 own(drawn.seed * 31 + static_cast<std::uint64_t>(context.rank()));
    DrawnSide out;
    DrawnSide in;
    for (int peer = 0; peer < context.size(); ++peer) {
        out.counts.push_back(drawn_count(drawn, context.rank(), peer));
        in.counts.push_back(drawn_count(drawn, peer, context.rank()));
    }
    out.place(own);
    in.place(own);
    TypedBlock from(type, out.elements);
    TypedBlock expected(type, in.elements);
    TypedBlock got(type, in.elements);
    from.fill(drawn.seed + 1 + static_cast<std::uint64_t>(context.rank()));
    expected.fill(77);
    got.fill(77);
    MPI_Alltoallv(from.buffer(), out.narrow_counts.data(), out.narrow_places.data(), type.get(), expected.buffer(),
                  in.narrow_counts.data(), in.narrow_places.data(), type.get(), MPI_COMM_WORLD);
    AlltoallOptions options;
    options.algorithm = drawn.by();
    options.window = Bytes{drawn.window};
    if (drawn.is_planned)
        AlltoallPlan(context, out.counts, out.places, type.get(), in.counts, in.places, type.get(), options)
            .apply(from.buffer(), got.buffer());
    else
        alltoallv(context, from.buffer(), out.counts, out.places, type.get(), got.buffer(), in.counts, in.places,
                  type.get(), options);
    std::string const problem = difference(expected, got);
    return problem.empty() ? problem : problem + ", type " + type.text();
}

TEST(AlltoallProperty, every_exchange_is_that_of_mpi) {
    Context context(MPI_COMM_WORLD, Settings{});
    check_on_all_ranks<AlltoallCase>("all-to-all", any_case(), effort(150),
                                     [&](AlltoallCase const& drawn) { return try_case(context, drawn); });
}

/// Blocks of one count for all, which log_step serves, too.
std::string try_even(Context& context, AlltoallCase const& drawn) {
    std::mt19937_64 shared(drawn.seed);
    DrawnType const type = draw_type(shared, static_cast<int>(drawn.depth));
    auto const count = static_cast<std::int64_t>(drawn.most_count % 41);
    std::int64_t const all = count * context.size();
    TypedBlock from(type, all);
    TypedBlock expected(type, all);
    TypedBlock got(type, all);
    from.fill(drawn.seed + 1 + static_cast<std::uint64_t>(context.rank()));
    expected.fill(78);
    got.fill(78);
    MPI_Alltoall(from.buffer(), static_cast<int>(count), type.get(), expected.buffer(), static_cast<int>(count),
                 type.get(), MPI_COMM_WORLD);
    AlltoallOptions options;
    options.algorithm = drawn.by();
    if (drawn.is_planned)
        AlltoallPlan(context, count, type.get(), count, type.get(), options).apply(from.buffer(), got.buffer());
    else
        alltoall(context, from.buffer(), count, type.get(), got.buffer(), count, type.get(), options);
    std::string const problem = difference(expected, got);
    return problem.empty() ? problem : problem + ", type " + type.text();
}

TEST(AlltoallProperty, every_exchange_of_equal_blocks_is_that_of_mpi) {
    Context context(MPI_COMM_WORLD, Settings{});
    check_on_all_ranks<AlltoallCase>("equal blocks", any_case(), effort(150),
                                     [&](AlltoallCase const& drawn) { return try_even(context, drawn); });
}

}  // namespace
}  // namespace sluice::tests
