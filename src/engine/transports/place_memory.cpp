// SPDX-License-Identifier: BSD-3-Clause
#include "engine/transports/place_memory.hpp"

#include <new>
#include <utility>

namespace sluice::engine {

namespace {

bool all_of_node(node::Node& node, bool mine) {
    std::uint64_t any_false = mine ? 0 : 1;
    node.rings().most_of_all({&any_false, 1});
    return any_false == 0;
}

}  // namespace

std::unique_ptr<PlaceMemory> PlaceMemory::make(node::Node& node, std::shared_ptr<node::ArrayMemory> memory, Shape shape,
                                               memory::Meter& meter, bool may_take) {
    std::unique_ptr<PlaceMemory> made;
    try {
        if (may_take) made.reset(new PlaceMemory(node, std::move(memory), shape, meter));
    } catch (std::bad_alloc const&) {
    }
    if (!all_of_node(node, made != nullptr)) return nullptr;
    auto const place = made->memory_->find(made->own_, made->bytes_);
    bool const has_all = made->parts_.exchange(node, *made->memory_, made->own_, place) && place;
    if (!all_of_node(node, has_all)) return nullptr;
    return made;
}

PlaceMemory::PlaceMemory(node::Node const& node, std::shared_ptr<node::ArrayMemory> memory, Shape shape,
                         memory::Meter& meter)
    : memory_(std::move(memory)),
      shape_(shape),
      head_bytes_(k_bytes_of_peer * static_cast<std::size_t>(node.size())),
      bytes_(bytes_of(shape, node.size())),
      meter_(meter),
      parts_(node.size(), node::NodeParts::Keeping::until_forgotten) {
    meter.take(bytes_);
    try {
        own_ = static_cast<std::byte*>(memory_->allocate_shared(bytes_));  // zeroed, so no answer has been counted
        if (own_ == nullptr) throw std::bad_alloc();
    } catch (...) {
        meter.give(bytes_);
        throw;
    }
}

/// A peer writes here only on request, and this rank has all that it has asked for.
PlaceMemory::~PlaceMemory() {
    parts_.forget(*memory_);
    memory_->free(own_);
    meter_.give(bytes_);
}

}  // namespace sluice::engine
