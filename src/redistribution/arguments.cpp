// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/arguments.hpp"

#include <cstddef>
#include <limits>

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
    return std::nullopt;
}

std::optional<Error> fault_of(std::uint64_t count, std::span<Destination const> destinations) {
    if (destinations.size() > count)
        return invalid(std::to_string(destinations.size()) + " destinations were given for an array of " +
                       std::to_string(count) + " blocks");
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
