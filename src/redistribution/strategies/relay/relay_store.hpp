// SPDX-License-Identifier: BSD-3-Clause
/// Blocks on their way that wait on this rank, in a queue for each rank that they go to.
///
///     queue to rank 0   [place 4] -> [place 0]
///     queue to rank 1   [place 3] -> [place 1]
///     places            | block | block | free | block | block | never used …
///
/// The place that was freed last is used first, because it is in the cache.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/meter.hpp"
#include "memory/metered_bytes.hpp"

namespace sluice::redistribution {

/// Where a block goes on its rank, and the local rank whose credit it travels on.
struct Passage {
    std::uint32_t slot;
    std::uint32_t starter;
};

class RelayStore {
    static constexpr std::uint32_t k_none = ~std::uint32_t{0};
    struct Place {
        Passage passage{};
        std::uint32_t next = k_none;  ///< in its queue, or among the free places
    };
    struct Queue {
        std::uint32_t first = k_none;
        std::uint32_t last = k_none;
        std::uint32_t count = 0;
    };

  public:
    static constexpr std::uint64_t bytes_of_place(std::uint64_t block_bytes) { return block_bytes + sizeof(Place); }
    static constexpr std::uint64_t k_bytes_of_rank = sizeof(Queue);

    /// Takes all memory: `bytes_of_place` for each place, `k_bytes_of_rank` for each rank. May throw std::bad_alloc.
    RelayStore(std::uint32_t places, int ranks, std::uint64_t block_bytes, memory::Meter& meter)
        : block_bytes_(block_bytes),
          blocks_(places * block_bytes, meter),
          places_(places, Place{}, memory::MeteredAllocator<Place>(meter)),
          queues_(static_cast<std::size_t>(ranks), Queue{}, memory::MeteredAllocator<Queue>(meter)) {}

    bool empty() const noexcept { return used_ == 0; }
    std::uint32_t count(int to) const noexcept { return queue(to).count; }

    /// Puts a block at the end of a queue; returns where its bytes are to be copied. The caller knows that there is a
    /// place.
    std::byte* push(int to, Passage passage) noexcept {
        std::uint32_t const at = free_ != k_none ? free_ : untouched_++;
        if (free_ != k_none) free_ = places_[at].next;
        ++used_;
        append(queue(to), at, passage);
        return block(at);
    }

    /// Of the first block of a queue that is not empty.
    Passage front(int to) const noexcept { return places_[queue(to).first].passage; }
    std::byte* front_block(int to) noexcept { return block(queue(to).first); }
    void pop(int to) noexcept {
        std::uint32_t const at = detach(queue(to));
        places_[at].next = free_;
        free_ = at;
        --used_;
    }
    /// The first place of a queue, whose bytes the caller has changed, becomes its last.
    void turn(int to, Passage passage) noexcept { append(queue(to), detach(queue(to)), passage); }

  private:
    Queue& queue(int to) noexcept { return queues_[static_cast<std::size_t>(to)]; }
    Queue const& queue(int to) const noexcept { return queues_[static_cast<std::size_t>(to)]; }
    std::byte* block(std::uint32_t at) const noexcept { return blocks_.data() + at * block_bytes_; }

    void append(Queue& queue, std::uint32_t at, Passage passage) noexcept {
        places_[at] = {passage, k_none};
        if (queue.count++ == 0)
            queue.first = at;
        else
            places_[queue.last].next = at;
        queue.last = at;
    }
    std::uint32_t detach(Queue& queue) noexcept {
        std::uint32_t const at = queue.first;
        queue.first = places_[at].next;
        --queue.count;
        return at;
    }

    std::uint64_t block_bytes_;
    memory::MeteredBytes blocks_;
    memory::MeteredVector<Place> places_;
    memory::MeteredVector<Queue> queues_;
    std::uint32_t free_ = k_none;
    std::uint32_t untouched_ = 0;  // places from here on were never used
    std::uint32_t used_ = 0;
};

}  // namespace sluice::redistribution
