// SPDX-License-Identifier: BSD-3-Clause
/// Memory of each rank of a node into which its peers copy blocks that it has asked for.
///
///     part of rank r:  | answers of rank 0 | answers of rank 1 | … | place 0 | place 1 | …        mapped by all ranks
///
/// Rank r names a place to one peer at a time, which then writes there and counts its answer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "memory/meter.hpp"
#include "node/node.hpp"
#include "node/shared/array_memory.hpp"
#include "node/shared/node_parts.hpp"

namespace sluice::engine {

class PlaceMemory {
  public:
    /// The same on all ranks of a node.
    struct Shape {
        std::uint64_t place_bytes = 0;
        std::size_t places = 0;  ///< of each rank
    };

    /// Collective over the node, which has rings. Null on all its ranks if one of them may not take the memory, has
    /// none, or cannot map a peer's.
    static std::unique_ptr<PlaceMemory> make(node::Node& node, std::shared_ptr<node::ArrayMemory> memory, Shape shape,
                                             memory::Meter& meter, bool may_take);
    ~PlaceMemory();
    PlaceMemory(PlaceMemory const&) = delete;
    PlaceMemory& operator=(PlaceMemory const&) = delete;

    Shape const& shape() const noexcept { return shape_; }
    /// Where a place of that local rank is in this process.
    std::byte* place(int local, std::uint64_t number) const noexcept {
        return part_of(local) + head_bytes_ + number * shape_.place_bytes;
    }
    /// How many blocks rank `by` has ever copied into places of rank `to`; both local.
    std::atomic_ref<std::uint64_t> answers(int to, int by) const noexcept {
        return std::atomic_ref(
            *reinterpret_cast<std::uint64_t*>(part_of(to) + static_cast<std::size_t>(by) * k_bytes_of_peer));
    }

    /// Bytes of each rank's part.
    static std::uint64_t bytes_of(Shape const& shape, int ranks_of_node) {
        return k_bytes_of_peer * static_cast<std::uint64_t>(ranks_of_node) + shape.places * shape.place_bytes;
    }

  private:
    static constexpr std::size_t k_bytes_of_peer = 64;  // a line for each count, because two ranks write two counts

    PlaceMemory(node::Node const& node, std::shared_ptr<node::ArrayMemory> memory, Shape shape, memory::Meter& meter);
    std::byte* part_of(int local) const noexcept { return parts_.bases()[static_cast<std::size_t>(local)]; }

    std::shared_ptr<node::ArrayMemory> memory_;
    Shape shape_;
    std::size_t head_bytes_;
    std::uint64_t bytes_;
    memory::Meter& meter_;
    node::NodeParts parts_;
    std::byte* own_ = nullptr;
};

}  // namespace sluice::engine
