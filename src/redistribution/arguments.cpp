// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/arguments.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "kernel/device/device_memory.hpp"

namespace sluice::redistribution {

Error invalid(std::string const& text) {
    return {ErrorCode::invalid_argument, text};
}

std::optional<Error> fault_of(Blocks const& blocks) {
    if (blocks.block_bytes == Bytes{}) return invalid("block_bytes is 0");
    if (blocks.data == nullptr && blocks.count > 0)
        return invalid("data is null but count is " + std::to_string(blocks.count));
    if (blocks.count > std::numeric_limits<std::uint64_t>::max() / 2 / blocks.block_bytes.count)
        return invalid(std::to_string(blocks.count) + " blocks of " + std::to_string(blocks.block_bytes.count) +
                       " bytes do not fit into an address space");
    return blocks.count > 0 ? kernel::fault_if_on_device("the array", blocks.data) : std::nullopt;
}

std::optional<Error> fault_of(std::uint64_t count, std::span<Destination const> destinations) {
    if (destinations.size() > count)
        return invalid(std::to_string(destinations.size()) + " destinations were given for an array of " +
                       std::to_string(count) + " blocks");
    return std::nullopt;
}

namespace {

std::string text_of(Destination const& to) {
    if (to.rank < 0) return "that it is free";
    return "index " + std::to_string(to.index) + " of rank " + std::to_string(to.rank);
}

}  // namespace

std::optional<Error> fault_of_rule(int rank, std::uint64_t count,
                                   std::function<Destination(std::uint64_t index)> const& destination) {
    // Some are asked for in a row, because a rule may keep its last answer.
    std::array<Destination, 64> answers;
    for (std::uint64_t first = 0; first < count; first += answers.size()) {
        std::uint64_t const last = std::min<std::uint64_t>(count, first + answers.size());
        for (std::uint64_t block = first; block < last; ++block)
            answers[block - first] = destination(block);
        for (std::uint64_t block = first; block < last; ++block) {
            Destination const& before = answers[block - first];
            Destination const after = destination(block);
            bool const both_free = before.rank < 0 && after.rank < 0;
            if (before == after || both_free) continue;
            return invalid("the destination function of rank " + std::to_string(rank) + " answers for block " +
                           std::to_string(block) + " first " + text_of(before) + " and then " + text_of(after) +
                           "; it must give the same answer each time (setting check)");
        }
    }
    return std::nullopt;
}

DestinationsFrom listed(std::span<Destination const> destinations) {
    return [destinations](std::uint64_t first, std::span<Destination> room) {
        return destinations.subspan(first, room.size());
    };
}

DestinationsFrom computed(std::function<Destination(std::uint64_t index)> const& destination) {
    return [&destination](std::uint64_t first, std::span<Destination> room) {
        for (Destination& to : room)
            to = destination(first++);
        return std::span<Destination const>(room);
    };
}

}  // namespace sluice::redistribution
