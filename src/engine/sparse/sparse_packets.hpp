// SPDX-License-Identifier: BSD-3-Clause
/// The packets of a sparse exchange that are being filled.
///
///     target ──> place ──> | filling | sending |      one packet is filled while the one before is under way
///
/// A target keeps its place until all targets are forgotten, so its packets are full but for the last. With more
/// targets than places the others wait, or the packets leave as they are.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/fixed_table.hpp"
#include "memory/meter.hpp"
#include "mpi/mpi.hpp"
#include "sluice/units.hpp"

namespace sluice::engine {

template <typename Item>
class SparsePackets {
  public:
    SparsePackets(int ranks, Bytes bytes, memory::Meter& meter)
        : ranks_(static_cast<std::size_t>(ranks)),
          places_(places_for(ranks_, bytes)),
          items_each_(std::clamp<std::size_t>(bytes.count / (2 * places_ * sizeof(Item)), 1, k_most_items)),
          items_(2 * places_ * items_each_, Item{}, memory::MeteredAllocator<Item>(meter)),
          filling_(places_, Filling{}, memory::MeteredAllocator<Filling>(meter)),
          sending_(places_, MPI_REQUEST_NULL, memory::MeteredAllocator<MPI_Request>(meter)),
          bits_(static_cast<unsigned>(std::bit_width(2 * places_))),
          found_(has_place_for_all() ? 0 : std::size_t{1} << bits_, 0, memory::MeteredAllocator<std::uint16_t>(meter)) {
        forget_targets();
    }

    std::size_t most_items() const noexcept { return items_each_; }
    std::size_t places() const noexcept { return places_; }
    /// No target ever waits.
    bool has_place_for_all() const noexcept { return places_ >= ranks_; }

    /// The target has a place, or gets one now.
    bool takes(int target) noexcept {
        if (has_place_for_all()) return true;
        std::uint16_t& found = find(target);
        if (found != 0) return true;
        if (used_ == places_) return false;
        filling_[used_++].target = target;
        found = static_cast<std::uint16_t>(used_);
        return true;
    }
    /// Of a target that has a place.
    std::size_t place_of(int target) noexcept {
        return has_place_for_all() ? static_cast<std::size_t>(target) : std::size_t{find(target)} - 1;
    }
    template <class Visit>
    void each_target(Visit const& visit) const {
        for (std::size_t place = 0; place < used_; ++place)
            visit(filling_[place].target);
    }
    /// All packets have left.
    void forget_targets() noexcept {
        if (has_place_for_all()) {
            for (std::size_t place = 0; place < places_; ++place)
                filling_[place].target = static_cast<int>(place);
        } else {
            std::fill(found_.begin(), found_.end(), 0);
            used_ = 0;
        }
    }

    bool is_full(std::size_t place) const noexcept { return filling_[place].count == items_each_; }
    bool empty(std::size_t place) const noexcept { return filling_[place].count == 0; }
    void add(std::size_t place, Item const& item) noexcept {
        Filling& filling = filling_[place];
        items_[(2 * place + filling.half) * items_each_ + filling.count++] = item;
    }
    MPI_Request& sending(std::size_t place) noexcept { return sending_[place]; }
    MPI_Request* all_sending() noexcept { return sending_.data(); }

    /// Starts the synchronous send of the packet being filled; the one before must be complete.
    void send(std::size_t place, MPI_Comm comm, int tag) {
        Filling& filling = filling_[place];
        mpi::check(MPI_Issend(&items_[(2 * place + filling.half) * items_each_],
                              static_cast<int>(sizeof(Item) * filling.count), MPI_BYTE, filling.target, tag, comm,
                              &sending_[place]),
                   "MPI_Issend");
        filling.half ^= 1U;
        filling.count = 0;
    }

  private:
    static constexpr std::size_t k_most_items = 1024;
    static constexpr std::size_t k_good_items = 64;  // a message of so many costs little for each
    static constexpr std::size_t k_few_places = 8;
    static constexpr std::size_t k_most_places = 1024;
    struct Filling {
        int target = -1;
        std::size_t count = 0;
        std::size_t half = 0;
    };

    /// As many as have good packets; few with small packets where memory is short.
    static std::size_t places_for(std::size_t ranks, Bytes bytes) noexcept {
        std::size_t const good = bytes.count / (2 * k_good_items * sizeof(Item));
        return std::min(ranks, std::clamp(good, k_few_places, k_most_places));
    }
    /// Its number of a place, from 1 on, or the unused entry where it belongs: at most half of the entries are used.
    std::uint16_t& find(int target) noexcept {
        std::size_t at = base::slot_of_key(static_cast<std::uint64_t>(target), bits_);
        while (found_[at] != 0 && filling_[found_[at] - 1U].target != target)
            at = (at + 1) % found_.size();
        return found_[at];
    }

    std::size_t ranks_;
    std::size_t places_;
    std::size_t items_each_;
    memory::MeteredVector<Item> items_;
    memory::MeteredVector<Filling> filling_;
    memory::MeteredVector<MPI_Request> sending_;
    unsigned bits_;
    memory::MeteredVector<std::uint16_t> found_;  // empty if there is a place for all
    std::size_t used_ = 0;
};

}  // namespace sluice::engine
