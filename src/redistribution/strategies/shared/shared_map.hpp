// SPDX-License-Identifier: BSD-3-Clause
/// The inverse map of a redistribution whose ranks all share one node, in memory that all of them map. Each rank writes
/// for its blocks, straight into the words of the receivers, where they are: no message is sent.
///
///     part of rank r:  | slots | told to rank 0 | told to rank 1 | … | word of slot 0 | word of slot 1 | …
///
/// Two blocks with one destination leave one word, so a rank has fewer words than it has been told of. Which blocks
/// these are is then found by the exchange of addresses, which words the error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/context_state.hpp"
#include "memory/meter.hpp"
#include "node/shared/array_memory.hpp"
#include "node/shared/node_parts.hpp"
#include "redistribution/address_exchange.hpp"
#include "redistribution/address_map.hpp"
#include "redistribution/strategies/shared/shared_word.hpp"

namespace sluice::redistribution {

/// Takes 4 bytes for each slot, or 8 if a rank and an index need more than 30 bits, and a bit; 8 bytes for each rank.
class SharedMap {
  public:
    /// Local. Throws std::bad_alloc if the memory is not there or cannot be shared.
    SharedMap(engine::ContextState& context, std::uint64_t slots, std::uint64_t most_slots);
    ~SharedMap();
    SharedMap(SharedMap const&) = delete;
    SharedMap& operator=(SharedMap const&) = delete;

    /// Collective over the node, which is the whole context. Returns whether this rank has mapped all parts.
    bool map_peers(node::Node& node);
    /// Collective. Takes the map from what each rank knows of its own blocks. Returns false if this rank sees a fault.
    bool tell(node::NodeRings& rings, std::uint64_t live, DestinationsFrom const& destinations, AddressCounts& counts);
    /// Local. Takes the map from this rank's part of a checked one.
    void take(AddressMap const& inverse);
    /// Local. Forgets what the last pass has left in this rank's words.
    void begin_pass() noexcept;

    bool is_short() const noexcept { return is_short_; }
    template <typename Word>
    SharedWords<Word> words() const {
        return {parts_.bases(), head_bytes_, ranks_};
    }
    std::uint64_t slots() const noexcept { return slots_; }
    Bytes memory() const noexcept { return {bytes_ + live_.capacity() * sizeof(std::uint64_t)}; }
    /// Whether the slot of this rank held a block at the start.
    bool is_live(std::uint64_t slot) const noexcept { return (live_[slot / 64] >> (slot % 64) & 1) != 0; }
    bool has_free_slots() const noexcept { return live_slots_ < slots_; }

  private:
    std::uint64_t& slots_of(int rank) const noexcept { return head(rank)[0]; }
    std::uint64_t& told(int by, int to) const noexcept { return head(by)[1 + to]; }
    std::uint64_t* head(int rank) const noexcept {
        return reinterpret_cast<std::uint64_t*>(parts_.bases()[static_cast<std::size_t>(rank)]);
    }
    void mark_live(std::uint64_t slot) noexcept {
        live_[slot / 64] |= std::uint64_t{1} << (slot % 64);
        ++live_slots_;
    }
    template <typename Word>
    bool write(std::uint64_t live, DestinationsFrom const& destinations);
    template <typename Word>
    bool write_some(std::uint64_t first, std::span<Destination const> to);
    template <typename Word>
    std::uint64_t count_words() const noexcept;

    engine::ContextState& context_;
    std::shared_ptr<node::ArrayMemory> memory_;
    int rank_;
    int ranks_;
    std::uint64_t slots_;
    bool is_short_;
    std::size_t head_bytes_;
    std::size_t bytes_;
    memory::MeteredVector<std::uint64_t> live_;
    node::NodeParts parts_;
    std::byte* own_ = nullptr;
    std::uint64_t live_slots_ = 0;
    bool has_claims_ = false;
};

}  // namespace sluice::redistribution
