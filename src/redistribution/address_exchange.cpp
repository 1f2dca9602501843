// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/address_exchange.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/sparse/sparse_exchange.hpp"
#include "groups/tags.hpp"
#include "node/node.hpp"

namespace sluice::redistribution {

namespace {

/// Tells the receiver that block `block` of the sender goes to its slot `slot`. The fewer bytes, the less of the
/// caches the exchange takes.
template <typename Index>
struct Entry {
    Index slot;
    Index block;
};

/// Records arriving entries and keeps the first error. It fills an inverse map if it has one; otherwise it only marks
/// which slots are taken, with one bit for each, so that the marks stay in the cache.
class Register {
  public:
    Register(AddressMap* inverse, std::uint64_t slots, int rank, memory::Meter& meter)
        : inverse_(inverse),
          taken_(inverse == nullptr ? slots / 64 + 1 : 0, 0, memory::MeteredAllocator<std::uint64_t>(meter)),
          slots_(slots),
          rank_(rank) {}

    /// Records that a block goes to one of our slots.
    template <typename Index>
    void accept(int source, Entry<Index> const& entry) {
        if (entry.slot >= slots_ || !take(entry.slot, {source, static_cast<std::int64_t>(entry.block)}))
            refuse(source, entry.slot, entry.block);
    }

    /// Prefetches the entry of the map that `accept` will need.
    template <typename Index>
    void expect(Entry<Index> const& entry) const noexcept {
        if (inverse_ != nullptr && entry.slot < slots_) inverse_->prefetch(entry.slot);
    }

    void fail(Error error) {
        if (!error_) error_.emplace(std::move(error));
    }
    std::optional<Error> const& error() const noexcept { return error_; }

  private:
    /// False if another block goes there.
    bool take(std::uint64_t slot, Destination source) noexcept {
        if (inverse_ != nullptr) return inverse_->set_if_nowhere(slot, source);
        std::uint64_t& word = taken_[slot / 64];
        std::uint64_t const bit = std::uint64_t{1} << (slot % 64);
        bool const is_first = (word & bit) == 0;
        word |= bit;
        return is_first;
    }
    [[gnu::cold]] void refuse(int source, std::uint64_t slot, std::uint64_t block) {
        std::string why = "another block goes there too";
        if (slot >= slots_)
            why = "that rank has " + std::to_string(slots_) + " slots";
        else if (inverse_ != nullptr)
            why = "block " + std::to_string((*inverse_)[slot].index) + " of rank " +
                  std::to_string((*inverse_)[slot].rank) + " goes there too";
        fail(wrong_destination(source, block, {rank_, static_cast<std::int64_t>(slot)}, why));
    }
    AddressMap* inverse_;
    memory::MeteredVector<std::uint64_t> taken_;
    std::uint64_t slots_;
    int rank_;
    std::optional<Error> error_;
};

/// Keeps the entries of this rank's own blocks for a while, until their part of the map has come into the cache.
template <typename Index>
class OwnEntries {
  public:
    OwnEntries(Register& taken, int rank) : taken_(taken), rank_(rank) {}

    void add(Entry<Index> const& entry) {
        std::size_t const at = count_++ % entries_.size();
        if (count_ > entries_.size()) taken_.accept(rank_, entries_[at]);
        entries_[at] = entry;
        taken_.expect(entry);
    }
    void finish() {
        for (std::size_t i = 0; i < std::min<std::uint64_t>(count_, entries_.size()); ++i)
            taken_.accept(rank_, entries_[i]);
    }
    std::uint64_t count() const noexcept { return count_; }

  private:
    Register& taken_;
    int rank_;
    std::uint64_t count_ = 0;
    std::array<Entry<Index>, 16> entries_{};
};

template <typename Index>
AddressCounts exchange_entries(engine::ContextState& context, node::Node* node, std::uint64_t live,
                               PossibleAddresses const& possible, DestinationsFrom const& destinations,
                               AddressMap* inverse, AddressMap* forward, Bytes staging) {
    using Exchange = engine::SparseExchange<Entry<Index>, Register>;
    std::optional<Register> taken_here;
    std::optional<Exchange> exchange_here;
    std::optional<Error> fault;
    base::Counter* messages = nullptr;
    try {
        messages = &context.counters().named("addresses.messages");
        taken_here.emplace(inverse, inverse != nullptr ? inverse->size() : forward->size(), context.rank(),
                           context.meter());
        exchange_here.emplace(context, node, *taken_here, staging / 4, groups::tags::k_addresses);
    } catch (std::bad_alloc const&) {
        fault.emplace(ErrorCode::out_of_memory,
                      "rank " + std::to_string(context.rank()) + " has no memory for the exchange of addresses");
    }
    context.agree_on_no_error(fault);
    Register& taken = *taken_here;
    Exchange& exchange = *exchange_here;

    AddressCounts counts;
    int const rank = context.rank();
    OwnEntries<Index> own(taken, rank);
    auto const check = [&](std::uint64_t first, std::span<Destination const> to) {
        for (std::size_t i = 0; i < to.size(); ++i)
            if (!possible.has(to[i])) throw wrong_destination(rank, first + i, to[i], possible.why_not(to[i]));
    };
    auto const record = [&](std::uint64_t first, std::span<Destination const> to) {
        if (inverse != nullptr) inverse->set_marks(first, to);
        if (forward != nullptr) forward->set_fresh(first, to);
    };
    auto const send = [&](std::uint64_t block, Destination const& to) {
        if (to.rank < 0) return;
        Entry<Index> const entry{static_cast<Index>(to.index), static_cast<Index>(block)};
        if (to.rank == rank) {
            if (exchange.turn() == 0) own.add(entry);
            return;
        }
        auto const sent = exchange.send_in_turn(to.rank, entry);
        if (sent == Exchange::Sent::by_ring || sent == Exchange::Sent::by_message) ++counts.outgoing;
        if (sent == Exchange::Sent::by_message) ++counts.outgoing_by_message;
    };
    try {
        std::array<Destination, 256> room;
        do {
            for (std::uint64_t first = 0; first < live; first += room.size()) {
                auto const wanted = static_cast<std::size_t>(std::min<std::uint64_t>(room.size(), live - first));
                std::span<Destination const> const to = destinations(first, std::span(room).first(wanted));
                check(first, to);  // in each turn: a rule may answer differently when it is asked again
                if (exchange.turn() == 0) record(first, to);
                for (std::size_t i = 0; i < to.size(); ++i)
                    send(first + i, to[i]);
            }
        } while (exchange.next_turn());
    } catch (Error const& error) {
        taken.fail(error);  // then goes on: all ranks take part to the end, and all get the error
    } catch (std::exception const& error) {
        taken.fail(Error(ErrorCode::invalid_argument, std::string("the destination function threw: ") + error.what()));
    }
    own.finish();
    exchange.finish();
    messages->add(exchange.messages());
    context.agree_on_no_error(taken.error());
    counts.staying = own.count();
    counts.incoming = exchange.received();
    return counts;
}

}  // namespace

std::string PossibleAddresses::why_not(Destination const& address) const {
    if (address.rank >= ranks_) return "there are " + std::to_string(ranks_) + " ranks";
    if (address.index < 0) return "indices start at 0";
    return "no rank has more than " + std::to_string(most_slots_) + " slots";
}

Error wrong_destination(int rank, std::uint64_t block, Destination const& to, std::string const& why) {
    return {ErrorCode::invalid_argument, "block " + std::to_string(block) + " of rank " + std::to_string(rank) +
                                             " is sent to rank " + std::to_string(to.rank) + ", index " +
                                             std::to_string(to.index) + ": " + why};
}

AddressCounts exchange_addresses(engine::ContextState& context, node::Node* node, std::uint64_t live,
                                 std::uint64_t most_slots, DestinationsFrom const& destinations, AddressMap* inverse,
                                 AddressMap* forward, Bytes staging) {
    // The sender refuses what an entry cannot hold; the receiver knows how many slots it has, and says it.
    auto const exchange = [&]<typename Index>(Index most) {
        PossibleAddresses const possible(context.size(), std::uint64_t{most});
        return exchange_entries<Index>(context, node, live, possible, destinations, inverse, forward, staging);
    };
    constexpr std::uint32_t k_most = std::numeric_limits<std::uint32_t>::max();
    return most_slots <= k_most ? exchange(k_most) : exchange(std::numeric_limits<std::uint64_t>::max());
}

}  // namespace sluice::redistribution
