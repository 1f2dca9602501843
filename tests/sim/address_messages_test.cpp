// SPDX-License-Identifier: BSD-3-Clause
// Messages of the exchange of addresses are full but for the last to each partner on 256 ranks, too, in whatever order
// the list names the partners. This is a program of its own and not a GoogleTest, of which 256 do not fit into one
// process.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <vector>

#include "engine/context_state.hpp"
#include "engine/sparse/sparse_packets.hpp"
#include "sluice/redistribute.hpp"

namespace {

using namespace sluice;

constexpr std::uint64_t k_each = 130;  // blocks for each partner
constexpr std::uint64_t k_partners = 40;
constexpr Bytes k_small_staging = 128_KiB;  // 28 places for packets of 65 entries: 40 partners take two turns
constexpr std::string_view k_orders[] = {"interleaved", "random"};

struct Entry {
    std::uint32_t slot;
    std::uint32_t block;
};

/// Where the blocks for the `partners` ranks after this one go, in this order.
std::vector<Destination> destinations(Context& context, std::uint64_t partners, std::string_view order) {
    struct Block {
        std::uint64_t distance;
        std::uint64_t number;
    };
    std::vector<Block> blocks;
    for (std::uint64_t number = 0; number < k_each; ++number)
        for (std::uint64_t distance = 1; distance <= partners; ++distance)
            blocks.push_back({distance, number});
    if (order == "random") std::ranges::shuffle(blocks, std::mt19937(static_cast<unsigned>(context.rank())));
    std::vector<Destination> to;
    for (Block const& block : blocks)
        to.push_back({(context.rank() + static_cast<int>(block.distance)) % context.size(),
                      static_cast<std::int64_t>((block.distance - 1) * k_each + block.number)});
    return to;
}

/// Collective. True if all ranks send as many messages as they must.
bool are_full(Context& context, std::uint64_t partners, std::string_view order) {
    engine::ContextState& state = engine::ContextState::of(context);
    Bytes const bytes = k_small_staging / 4;
    std::uint64_t const most =
        engine::SparsePackets<Entry>(context.size(), bytes - bytes / 9, state.meter()).most_items();
    base::Counter const& counter = state.counters().named("addresses.messages");
    std::uint64_t const before = counter.value();
    std::vector<Destination> const to = destinations(context, partners, order);
    Plan const plan(context, to.size(), to, {Strategy::token, k_small_staging});
    std::uint64_t const sent = counter.value() - before;
    std::uint64_t const must = partners * ((k_each + most - 1) / most);
    if (sent != must)
        std::printf("rank %d, %llu partners, %s: %llu messages, expected %llu\n", context.rank(),
                    static_cast<unsigned long long>(partners), order.data(), static_cast<unsigned long long>(sent),
                    static_cast<unsigned long long>(must));
    return state.all_true(sent == must);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    bool good = true;
    {
        Context context(MPI_COMM_WORLD);
        for (std::string_view const order : k_orders)
            good = are_full(context, k_partners, order) && good;
        good = are_full(context, 1, "interleaved") && good;
    }
    MPI_Finalize();
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
