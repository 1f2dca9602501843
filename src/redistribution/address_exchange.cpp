// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/address_exchange.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/sparse/sparse_exchange.hpp"
#include "groups/tags.hpp"
#include "node/node.hpp"

namespace sluice::redistribution {

namespace {

/// Tells the receiver that block `block` of the sender goes to its slot `slot`.
struct Entry {
    std::uint64_t slot;
    std::uint64_t block;
};

Error offence(int rank, std::uint64_t block, Destination const& to, std::string const& why) {
    return {ErrorCode::invalid_argument, "block " + std::to_string(block) + " of rank " + std::to_string(rank) +
                                             " is sent to rank " + std::to_string(to.rank) + ", index " +
                                             std::to_string(to.index) + ": " + why};
}

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
    void accept(int source, Entry const& entry) {
        if (entry.slot >= slots_)
            fail(source, entry, "that rank has " + std::to_string(slots_) + " slots");
        else if (inverse_ == nullptr)
            mark_taken(source, entry);
        else if (inverse_->is_nowhere(entry.slot))
            inverse_->set(entry.slot, {source, static_cast<std::int64_t>(entry.block)});
        else
            fail(source, entry,
                 "block " + std::to_string((*inverse_)[entry.slot].index) + " of rank " +
                     std::to_string((*inverse_)[entry.slot].rank) + " goes there too");
    }

    /// Prefetches the entry of the map that `accept` will need.
    void expect(Entry const& entry) const noexcept {
        if (inverse_ != nullptr && entry.slot < slots_) inverse_->prefetch(entry.slot);
    }

    void fail(Error error) {
        if (!error_) error_.emplace(std::move(error));
    }
    std::optional<Error> const& error() const noexcept { return error_; }

  private:
    void mark_taken(int source, Entry const& entry) {
        std::uint64_t& word = taken_[entry.slot / 64];
        std::uint64_t const bit = std::uint64_t{1} << (entry.slot % 64);
        if ((word & bit) != 0) fail(source, entry, "another block goes there too");
        word |= bit;
    }
    void fail(int source, Entry const& entry, std::string const& why) {
        fail(offence(source, entry.block, {rank_, static_cast<std::int64_t>(entry.slot)}, why));
    }
    AddressMap* inverse_;
    memory::MeteredVector<std::uint64_t> taken_;
    std::uint64_t slots_;
    int rank_;
    std::optional<Error> error_;
};

}  // namespace

AddressCounts exchange_addresses(engine::ContextState& context, node::Node* node, std::uint64_t live,
                                 DestinationsFrom const& destinations, AddressMap* inverse, AddressMap* forward,
                                 Bytes staging) {
    std::optional<Register> taken_here;
    std::optional<engine::SparseExchange<Entry, Register>> exchange;
    std::optional<Error> fault;
    base::Counter* messages = nullptr;
    try {
        messages = &context.counters().named("addresses.messages");
        taken_here.emplace(inverse, inverse != nullptr ? inverse->size() : forward->size(), context.rank(),
                           context.meter());
        exchange.emplace(context, node, *taken_here, staging / 4, groups::tags::k_addresses);
    } catch (std::bad_alloc const&) {
        fault.emplace(ErrorCode::out_of_memory,
                      "rank " + std::to_string(context.rank()) + " has no memory for the exchange of addresses");
    }
    context.agree_on_no_error(fault);
    Register& taken = *taken_here;

    AddressCounts counts;
    std::array<Entry, 16> staying{};
    int const rank = context.rank();
    int const ranks = context.size();
    auto const tell = [&](std::uint64_t block, Destination const& to) {
        if (to.rank < 0) return;
        if (to.rank >= ranks || to.index < 0)
            throw offence(rank, block, to,
                          to.index < 0 ? "indices start at 0" : "there are " + std::to_string(ranks) + " ranks");
        bool const first_turn = exchange->turn() == 0;
        if (first_turn && inverse != nullptr) inverse->set_mark(block);
        if (first_turn && forward != nullptr) forward->set_fresh(block, to);
        Entry const entry{static_cast<std::uint64_t>(to.index), block};
        if (to.rank == rank) {
            if (!first_turn) return;
            // The entry is handled a little later, when its part of the map has come into the cache.
            std::size_t const at = counts.staying++ % staying.size();
            if (counts.staying > staying.size()) taken.accept(rank, staying[at]);
            staying[at] = entry;
            taken.expect(entry);
            return;
        }
        using Sent = decltype(exchange)::value_type::Sent;
        Sent const sent = exchange->send_in_turn(to.rank, entry);
        if (sent == Sent::by_ring || sent == Sent::by_message) ++counts.outgoing;
        if (sent == Sent::by_message) ++counts.outgoing_by_message;
    };
    try {
        std::array<Destination, 256> room;
        do {
            for (std::uint64_t first = 0; first < live; first += room.size()) {
                auto const wanted = static_cast<std::size_t>(std::min<std::uint64_t>(room.size(), live - first));
                std::uint64_t block = first;
                for (Destination const& to : destinations(first, std::span(room).first(wanted)))
                    tell(block++, to);
            }
        } while (exchange->next_turn());
    } catch (Error const& error) {
        taken.fail(error);  // then goes on: all ranks take part to the end, and all get the error
    } catch (std::exception const& error) {
        taken.fail(Error(ErrorCode::invalid_argument, std::string("the destination function threw: ") + error.what()));
    }
    for (std::size_t i = 0; i < std::min<std::uint64_t>(counts.staying, staying.size()); ++i)
        taken.accept(context.rank(), staying[i]);
    exchange->finish();
    messages->add(exchange->messages());
    context.agree_on_no_error(taken.error());
    counts.incoming = exchange->received();
    return counts;
}

}  // namespace sluice::redistribution
