// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/arguments.hpp"

#include <array>
#include <cstddef>
#include <limits>

namespace sluice::redistribution {

Error invalid(std::string const& text) {
    return {ErrorCode::invalid_argument, text};
}

std::optional<Error> fault_of(Blocks const& blocks) {
    if (blocks.block_bytes == 0) return invalid("block_bytes is 0");
    if (blocks.data == nullptr && blocks.count > 0)
        return invalid("data is null but count is " + std::to_string(blocks.count));
    if (blocks.count > std::numeric_limits<std::uint64_t>::max() / 2 / blocks.block_bytes)
        return invalid(std::to_string(blocks.count) + " blocks of " + std::to_string(blocks.block_bytes) +
                       " bytes do not fit into an address space");
    return std::nullopt;
}

std::optional<Error> fault_of(std::uint64_t count, std::span<Destination const> destinations) {
    if (destinations.size() > count)
        return invalid(std::to_string(destinations.size()) + " destinations were given for an array of " +
                       std::to_string(count) + " blocks");
    return std::nullopt;
}

std::uint64_t agree(engine::ContextState& context, std::optional<Error> mine, std::uint64_t count,
                    std::span<Alike const> alike) {
    std::array<std::uint64_t, 8> values{};
    std::span<std::uint64_t> const most = std::span(values).first(2 + 2 * alike.size());
    most[0] = mine ? 1 : 0;
    most[1] = count;
    for (std::size_t i = 0; i < alike.size(); ++i) {
        most[2 + 2 * i] = alike[i].value;
        most[3 + 2 * i] = ~alike[i].value;  // the maximum of complements is the complement of the minimum
    }
    context.most_of_all(most);
    if (most[0] != 0) {
        if (mine) mine = Error(mine->code(), "rank " + std::to_string(context.rank()) + ": " + mine->what());
        context.agree_on_no_error(mine);
    }
    for (std::size_t i = 0; i < alike.size(); ++i)
        if (most[2 + 2 * i] != ~most[3 + 2 * i])
            throw invalid(std::string(alike[i].what) + " differs between ranks: from " +
                          std::to_string(~most[3 + 2 * i]) + " to " + std::to_string(most[2 + 2 * i]));
    return most[1];
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
