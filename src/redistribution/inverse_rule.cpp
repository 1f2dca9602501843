// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/inverse_rule.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <string>

#include "groups/agree.hpp"
#include "redistribution/arguments.hpp"

namespace sluice::redistribution {

namespace {

/// All bits depend on all bits (S. Vigna, splitmix64).
constexpr std::uint64_t mixed(std::uint64_t bits) noexcept {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
    return bits ^ (bits >> 31);
}

/// The sums over what this rank knows of one of the sets.
class SetSums {
  public:
    void add(int from, std::uint64_t block, int to, std::uint64_t slot) noexcept {
        std::uint64_t const ranks = static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint64_t>(to);
        std::uint64_t const hash = mixed(mixed(mixed(ranks + k_step) + block) + slot * k_step);
        sums_[0] += hash;
        sums_[1] += mixed(hash ^ mixed(ranks ^ mixed(slot + k_step)) ^ block * k_step);
    }
    std::array<std::uint64_t, 2> operator-(SetSums const& other) const noexcept {
        return {sums_[0] - other.sums_[0], sums_[1] - other.sums_[1]};
    }

  private:
    static constexpr std::uint64_t k_step = 0x9e3779b97f4a7c15ULL;
    std::array<std::uint64_t, 2> sums_{};
};

std::string text_of_source(Destination const& source) {
    if (source.rank < 0) return "nowhere";
    return "rank " + std::to_string(source.rank) + ", index " + std::to_string(source.index);
}

class BothWays {
  public:
    BothWays(engine::ContextState& context, node::Node const* node, ArraySizes const& sizes)
        : rank_(context.rank()),
          node_(node != nullptr && node->has_rings() ? node : nullptr),
          slots_here_(sizes.slots),
          possible_(context.size(), sizes.most_slots) {}

    void take_destinations(std::uint64_t live, DestinationsFrom const& destinations, AddressMap* inverse,
                           AddressMap* forward) {
        std::array<Destination, 256> room;
        for (std::uint64_t first = 0; first < live; first += room.size()) {
            auto const wanted = static_cast<std::size_t>(std::min<std::uint64_t>(room.size(), live - first));
            std::uint64_t block = first;
            for (Destination const& to : destinations(first, std::span(room).first(wanted)))
                take_destination(block++, to, inverse, forward);
        }
    }

    void take_sources(InverseFunction const& source_of, AddressMap* inverse) {
        for (std::uint64_t slot = 0; slot < slots_here_; ++slot) {
            Destination const source = source_of(slot);
            if (source.rank < 0) continue;
            if (!possible_.has(source))
                throw invalid("the inverse says that the block for slot " + std::to_string(slot) + " of rank " +
                              std::to_string(rank_) + " comes from " + text_of_source(source) + ": " +
                              possible_.why_not(source));
            slots_.add(source.rank, static_cast<std::uint64_t>(source.index), rank_, slot);
            if (source.rank != rank_) ++counts_.incoming;
            if (inverse != nullptr) inverse->set(slot, source);
        }
    }

    std::array<std::uint64_t, 2> difference() const noexcept { return blocks_ - slots_; }
    AddressCounts const& counts() const noexcept { return counts_; }

  private:
    void take_destination(std::uint64_t block, Destination const& to, AddressMap* inverse, AddressMap* forward) {
        if (to.rank < 0) return;
        if (!possible_.has(to)) throw wrong_destination(rank_, block, to, possible_.why_not(to));
        blocks_.add(rank_, block, to.rank, static_cast<std::uint64_t>(to.index));
        if (inverse != nullptr) inverse->set_mark(block);
        if (forward != nullptr) forward->set_fresh(block, to);
        if (to.rank == rank_) {
            ++counts_.staying;
            return;
        }
        ++counts_.outgoing;
        if (node_ == nullptr || node_->local_of(to.rank) < 0) ++counts_.outgoing_by_message;
    }

    int rank_;
    node::Node const* node_;  // null if all goes by message
    std::uint64_t slots_here_;
    PossibleAddresses possible_;
    SetSums blocks_;
    SetSums slots_;
    AddressCounts counts_;
};

}  // namespace

AddressCounts take_both_ways(engine::ContextState& context, node::Node const* node, ArraySizes const& sizes,
                             std::uint64_t live, DestinationsFrom const& destinations, InverseFunction const& source_of,
                             AddressMap* inverse, AddressMap* forward) {
    BothWays both(context, node, sizes);
    std::optional<Error> fault;
    try {
        both.take_destinations(live, destinations, inverse, forward);
        both.take_sources(source_of, inverse);
    } catch (Error const& error) {
        fault = error;
    } catch (std::exception const& error) {
        fault = invalid(std::string("the destination function or the inverse threw: ") + error.what());
    }
    context.agree_on_no_error(fault);
    for (std::uint64_t const sum : both.difference())
        if (groups::sum_of(context.comm(), sum) != 0)
            throw invalid(
                "the inverse that was given does not invert the destinations, or these name an address twice or one "
                "that does not exist (SLUICE_CHECK=data names a block or a slot)");
    return both.counts();
}

void check_inverse(engine::ContextState& context, AddressMap const& inverse, InverseFunction const& source_of) {
    std::optional<Error> fault;
    try {
        for (std::uint64_t slot = 0; slot < inverse.size() && !fault; ++slot) {
            Destination const told = source_of(slot);
            Destination const found = inverse[slot];
            if (told == found || (told.rank < 0 && found.rank < 0)) continue;
            fault = invalid("the inverse says that the block for slot " + std::to_string(slot) + " of rank " +
                            std::to_string(context.rank()) + " comes from " + text_of_source(told) +
                            "; by the destinations it comes from " + text_of_source(found) + " (setting check)");
        }
    } catch (std::exception const& error) {
        fault = invalid(std::string("the inverse threw: ") + error.what());
    }
    context.agree_on_no_error(fault);
}

}  // namespace sluice::redistribution
