// SPDX-License-Identifier: BSD-3-Clause
/// The ranks that a rank has blocks for, by rank. Its memory follows their number, not the number of all ranks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/fixed_table.hpp"
#include "memory/leased.hpp"

namespace sluice::redistribution {

struct Partner {
    int rank = -1;             ///< −1: an unused place
    std::uint64_t blocks = 0;  ///< for that rank
    std::uint64_t first = 0;   ///< slot of the first of them, there
    std::uint64_t told = 0;    ///< of them whose slots have been told
};

class PartnerTable {
  public:
    explicit PartnerTable(Budget const& budget) : places_(memory::LeasedAllocator<Partner>(budget)) {}

    /// Makes an entry for a rank without one. Throws std::bad_alloc. References last until the next call.
    Partner& of(int rank) {
        if (2 * used_ >= places_.size()) grow();
        Partner& place = place_of(rank);
        if (place.rank != rank) {
            place.rank = rank;
            ++used_;
        }
        return place;
    }
    /// Of a rank that has an entry.
    Partner& existing(int rank) noexcept { return place_of(rank); }
    /// Null if the rank has none.
    Partner* find(int rank) noexcept {
        if (places_.empty()) return nullptr;
        Partner& place = place_of(rank);
        return place.rank == rank ? &place : nullptr;
    }

    template <class Visit>
    void each(Visit const& visit) {
        for (Partner& place : places_)
            if (place.rank >= 0) visit(place);
    }

  private:
    static constexpr unsigned k_first_bits = 4;

    /// Its own or the unused one where it belongs: at most half of the places are used.
    Partner& place_of(int rank) noexcept {
        std::size_t at = base::slot_of_key(static_cast<std::uint64_t>(rank), bits_);
        while (places_[at].rank >= 0 && places_[at].rank != rank)
            at = (at + 1) % places_.size();
        return places_[at];
    }
    void grow() {
        unsigned const bits = places_.empty() ? k_first_bits : bits_ + 1;
        memory::LeasedVector<Partner> old(std::size_t{1} << bits, Partner{}, places_.get_allocator());
        old.swap(places_);
        bits_ = bits;
        for (Partner const& partner : old)
            if (partner.rank >= 0) place_of(partner.rank) = partner;
    }

    memory::LeasedVector<Partner> places_;
    unsigned bits_ = 0;
    std::size_t used_ = 0;
};

}  // namespace sluice::redistribution
