// SPDX-License-Identifier: BSD-3-Clause
/// The plans and arrays that misuse_program.cpp has not: used after they or their context were moved from, after their
/// context and after MPI_Finalize. Each use is right or gives an error that names the object.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "misuse.hpp"
#include "sluice/allocate.hpp"
#include "sluice/alltoall.hpp"
#include "sluice/exchange.hpp"
#include "sluice/packed_plan.hpp"
#include "sluice/rank_plan.hpp"
#include "sluice/transpose.hpp"

namespace {

using namespace sluice;
using misuse::Wrong;

ArrayLayout layout_of(int ranks, bool by_last) {
    ArrayLayout layout;
    layout.grid = by_last ? std::array{1, 1, ranks} : std::array{ranks, 1, 1};
    return layout;
}

/// The data of the calls, and a plan of each kind.
struct Made {
    explicit Made(Context& context)
        : ranks(4, (context.rank() + 1) % context.size()),
          mine(static_cast<std::size_t>(context.size()), context.rank()),
          theirs(mine.size()),
          shape{{context.size(), 2, context.size()}, {sizeof(double)}},
          from(layout_of(context.size(), false)),
          to(layout_of(context.size(), true)),
          slabs(static_cast<std::size_t>(2 * context.size())),
          turned(slabs.size()),
          array(allocate<double>(context, 100)),
          by_rank(context, ranks),
          packed(context, {sizes, ranks, {sizeof(double)}}),
          exchange(context),
          alltoall(context, 1, MPI_INT64_T, 1, MPI_INT64_T),
          transpose(context, shape, from, to) {
        parts.push_back({0, std::as_bytes(std::span(values)), {}, {}});
    }
    std::vector<int> ranks;
    std::vector<std::uint64_t> sizes{2, 2, 2, 2};
    std::vector<double> values = std::vector<double>(8, 1.0);
    std::vector<std::int64_t> mine;
    std::vector<std::int64_t> theirs;
    ArrayShape shape;
    ArrayLayout from;
    ArrayLayout to;
    std::vector<double> slabs;
    std::vector<double> turned;
    std::vector<OutgoingPart> parts;
    NodeVector<double> array;
    RankPlan by_rank;
    PackedPlan packed;
    ExchangePlan exchange;
    AlltoallPlan alltoall;
    TransposePlan transpose;
};

/// Uses of the plans of `made`; `words`: of the error, none if the uses are right.
std::vector<Wrong> uses_of(Made& made, std::vector<std::string> const& words) {
    auto const with = [&](char const* name) {
        std::vector<std::string> all = words;
        if (!all.empty()) all.emplace_back(name);
        return all;
    };
    return {
        {"RankPlan",
         [&] {
             std::vector<double> blocks(4, 1.0);
             made.by_rank.apply(Resize::grow, blocks);
         },
         with("RankPlan")},
        {"PackedPlan",
         [&] {
             std::vector<double> values = made.values;
             std::vector<std::uint64_t> sizes = made.sizes;
             made.packed.apply(Resize::grow, values, sizes);
         },
         with("PackedPlan")},
        {"ExchangePlan", [&] { made.exchange.apply(made.parts, [](int, FetchResult) {}); }, with("ExchangePlan")},
        {"AlltoallPlan", [&] { made.alltoall.apply(made.mine.data(), made.theirs.data()); }, with("AlltoallPlan")},
        {"TransposePlan", [&] { made.transpose.apply(made.slabs.data(), made.turned.data()); }, with("TransposePlan")},
        {"an array", [&] { made.array.resize(200); }, {}},
    };
}

/// Calls that take a context, and plans that are made on it.
std::vector<Wrong> calls_on(Context& context, Made& made, std::string const& word) {
    return {
        {"redistribute by rank",
         [&] {
             std::vector<double> blocks(4, 1.0);
             redistribute(context, blocks, std::span<int const>(made.ranks));
         },
         {word}},
        {"redistribute of packed blocks",
         [&] {
             std::vector<double> values = made.values;
             std::vector<std::uint64_t> sizes = made.sizes;
             redistribute(context, values, sizes, std::span<int const>(made.ranks));
         },
         {word}},
        {"exchange", [&] { exchange(context, made.parts, [](int, FetchResult) {}); }, {word}},
        {"alltoall", [&] { alltoall(context, made.mine, made.theirs); }, {word}},
        {"transpose",
         [&] { transpose(context, made.shape, made.from, made.to, made.slabs.data(), made.turned.data()); },
         {word}},
        {"a RankPlan", [&] { RankPlan const second(context, made.ranks); }, {word}},
        {"a PackedPlan",
         [&] {
             PackedPlan const second(context, {made.sizes, made.ranks, {sizeof(double)}});
         },
         {word}},
        {"an ExchangePlan", [&] { ExchangePlan const second(context); }, {word}},
        {"an AlltoallPlan", [&] { AlltoallPlan const second(context, 1, MPI_INT64_T, 1, MPI_INT64_T); }, {word}},
        {"a TransposePlan", [&] { TransposePlan const second(context, made.shape, made.from, made.to); }, {word}},
    };
}

int after_moves() {
    Context first(MPI_COMM_WORLD);
    Made made(first);
    Context const context(std::move(first));
    int faults = misuse::faults_of(uses_of(made, {}), "plans whose context was moved");
    faults += misuse::faults_of(calls_on(first, made, "moved from"), "a context that was moved from");
    RankPlan const by_rank(std::move(made.by_rank));
    PackedPlan const packed(std::move(made.packed));
    ExchangePlan const exchange(std::move(made.exchange));
    AlltoallPlan const alltoall(std::move(made.alltoall));
    TransposePlan const transpose(std::move(made.transpose));
    return faults + misuse::faults_of(uses_of(made, {"moved from"}), "plans that were moved from");
}

int after_the_context() {
    auto context = std::make_unique<Context>(MPI_COMM_WORLD);
    Made made(*context);
    context.reset();
    return misuse::faults_of(uses_of(made, {}), "after the context");
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int faults = after_moves() + after_the_context();
    auto context = std::make_unique<Context>(MPI_COMM_WORLD);
    auto made = std::make_unique<Made>(*context);
    int all = 0;
    MPI_Allreduce(&faults, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    all += misuse::faults_of(uses_of(*made, {"after MPI_Finalize"}), "plans after MPI_Finalize");
    all += misuse::faults_of(calls_on(*context, *made, "after MPI_Finalize"), "a context after MPI_Finalize");
    std::string const said = misuse::standard_error_of([&] {
        made.reset();
        context.reset();
    });
    if (said.find("destroys a") == std::string::npos || said.find("after MPI_Finalize") == std::string::npos) {
        std::fprintf(stderr, "FAULT plans destroyed after MPI_Finalize say \"%s\"\n", said.c_str());
        ++all;
    }
    return all != 0;
}
