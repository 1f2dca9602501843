// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/shared/shared_map.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "redistribution/strategies/moving/fetch_to_write.hpp"

namespace sluice::redistribution {

namespace {

constexpr std::uint64_t k_line = 64;

std::size_t bytes_of_head(int ranks) {
    std::size_t const bytes = (1 + static_cast<std::size_t>(ranks)) * sizeof(std::uint64_t);
    return (bytes + k_line - 1) / k_line * k_line;
}

}  // namespace

SharedMap::SharedMap(engine::ContextState& context, std::uint64_t slots, std::uint64_t most_slots)
    : context_(context),
      memory_(context.process().arrays()),
      rank_(context.rank()),
      ranks_(context.size()),
      slots_(slots),
      is_short_(are_words_short(context.size(), most_slots)),
      head_bytes_(bytes_of_head(context.size())),
      bytes_(head_bytes_ + slots * (is_short_ ? sizeof(std::uint32_t) : sizeof(std::uint64_t))),
      live_(slots / 64 + 1, 0, memory::MeteredAllocator<std::uint64_t>(context.meter())),
      parts_(context.size(), node::NodeParts::Keeping::until_forgotten) {
    context.meter().take(bytes_);
    own_ = static_cast<std::byte*>(memory_->allocate_shared(bytes_));
    if (own_ == nullptr) {
        context.meter().give(bytes_);
        throw std::bad_alloc();
    }
}

SharedMap::~SharedMap() {
    parts_.forget(*memory_);
    memory_->free(own_);
    context_.meter().give(bytes_);
}

bool SharedMap::map_peers(node::Node& node) {
    *reinterpret_cast<std::uint64_t*>(own_) = slots_;
    return parts_.exchange(node, *memory_, own_, memory_->find(own_, bytes_));
}

bool SharedMap::tell(node::NodeRings& rings, std::uint64_t live, DestinationsFrom const& destinations,
                     AddressCounts& counts) {
    bool right = true;
    try {
        right = is_short_ ? write<std::uint32_t>(live, destinations) : write<std::uint64_t>(live, destinations);
    } catch (std::exception const&) {
        right = false;  // the exchange of addresses asks again, and words the error
    }
    rings.barrier();
    counts = {};
    for (int rank = 0; rank < ranks_; ++rank) {
        if (rank == rank_) continue;
        counts.incoming += told(rank, rank_);
        counts.outgoing += told(rank_, rank);
    }
    counts.staying = told(rank_, rank_);
    std::uint64_t const words = is_short_ ? count_words<std::uint32_t>() : count_words<std::uint64_t>();
    return right && words == counts.incoming + counts.staying;
}

template <typename Word>
bool SharedMap::write(std::uint64_t live, DestinationsFrom const& destinations) {
    std::array<Destination, 256> room;
    for (std::uint64_t first = 0; first < live; first += room.size()) {
        auto const wanted = static_cast<std::size_t>(std::min<std::uint64_t>(room.size(), live - first));
        if (!write_some<Word>(first, destinations(first, std::span(room).first(wanted)))) return false;
    }
    return true;
}

template <typename Word>
bool SharedMap::write_some(std::uint64_t first, std::span<Destination const> to) {
    auto const words = this->words<Word>();
    auto const is_in_range = [&](Destination const& there) {
        return there.rank < ranks_ && there.index >= 0 &&
               static_cast<std::uint64_t>(there.index) < slots_of(there.rank);
    };
    constexpr std::size_t k_ahead = 24;
    for (std::size_t i = 0; i < to.size(); ++i) {
        if (i + k_ahead < to.size())
            if (Destination const& next = to[i + k_ahead]; next.rank >= 0 && is_in_range(next))
                fetch_to_write(words.at(static_cast<std::size_t>(next.rank), static_cast<std::uint64_t>(next.index)));
        Destination const& there = to[i];
        if (there.rank < 0) continue;
        if (!is_in_range(there)) return false;
        mark_live(first + i);
        ++told(rank_, there.rank);
        Word& word = *words.at(static_cast<std::size_t>(there.rank), static_cast<std::uint64_t>(there.index));
        std::atomic_ref<Word>(word).store(words.address(rank_, first + i), std::memory_order_relaxed);
    }
    return true;
}

template <typename Word>
std::uint64_t SharedMap::count_words() const noexcept {
    Word const* const words = this->words<Word>().at(static_cast<std::size_t>(rank_), 0);
    return slots_ - static_cast<std::uint64_t>(std::count(words, words + slots_, Word{0}));
}

void SharedMap::take(AddressMap const& inverse) {
    auto const fill = [&](auto const& words, auto* word) {
        for (std::uint64_t slot = 0; slot < slots_; ++slot, ++word) {
            if (inverse.mark(slot)) mark_live(slot);
            Destination const from = inverse[slot];
            *word = from.rank < 0 ? 0 : words.address(from.rank, static_cast<std::uint64_t>(from.index));
        }
    };
    auto const me = static_cast<std::size_t>(rank_);
    if (is_short_)
        fill(words<std::uint32_t>(), words<std::uint32_t>().at(me, 0));
    else
        fill(words<std::uint64_t>(), words<std::uint64_t>().at(me, 0));
}

void SharedMap::begin_pass() noexcept {
    if (!std::exchange(has_claims_, true)) return;
    auto const forget = [&](auto* word, auto claimed) {
        for (std::uint64_t slot = 0; slot < slots_; ++slot)
            word[slot] &= ~claimed;
    };
    auto const me = static_cast<std::size_t>(rank_);
    if (is_short_)
        forget(words<std::uint32_t>().at(me, 0), SharedWords<std::uint32_t>::k_claimed);
    else
        forget(words<std::uint64_t>().at(me, 0), SharedWords<std::uint64_t>::k_claimed);
}

}  // namespace sluice::redistribution
