// SPDX-License-Identifier: BSD-3-Clause
/// The fetches in flight. Each has a slot, which names it to its owner, and counts in the flight window of its owner.
///
///     slots    |#|#|#|.|.|.|.|.|#|#|.|.|.|.|.|.|
///               data to be made  data that exist
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

#include "base/numbered.hpp"
#include "fetch/data_check.hpp"
#include "fetch/reader/fetch_set.hpp"
#include "fetch/reader/flight_window.hpp"
#include "fetch/wire.hpp"

namespace sluice::fetch {

class InFlight {
  public:
    struct Slot {
        Fetch fetch;  // its set is null in a free slot
        std::shared_ptr<Buffer> buffer{};
        std::uint64_t received = 0;
        std::uint64_t complete = 0;
        FlightWindow::Departure departure{};
        DataHash hash{};  // of the data as they were published
    };

    /// `window`: see FlightWindows.
    InFlight(Wire const& wire, Bytes window) : wire_(&wire), windows_(window) {}

    /// Fetches from this rank itself need no window.
    bool has_room(FetchRequest const& want, FlightWindow::Data data) {
        return want.key.owner == wire_->rank() || windows_.to(want.key.owner).has_room(want.bytes.count, data);
    }
    /// Tentative fetches use half of the slots, as of the tokens, so that fetches of existing data always find some.
    bool has_tentative_slots(std::size_t fetches) const noexcept {
        return slots_.size() - existing_ + fetches <= wire_->most_slots() / 2;
    }
    bool has_slot() const noexcept { return existing_ < wire_->most_slots() / 2; }

    /// Returns the number of the slot that `fetch` takes. Throws std::bad_alloc; then nothing has changed.
    std::uint32_t depart(Fetch const& fetch, std::shared_ptr<Buffer> buffer);
    Slot& operator[](std::uint32_t slot) noexcept { return slots_[slot]; }
    /// Whether `slot` is taken and waits for `bytes` or more.
    bool expects(std::uint32_t slot, std::size_t bytes) noexcept {
        return slots_.has_given(slot) && slots_[slot].fetch.set &&
               slots_[slot].received + bytes <= slots_[slot].buffer->bytes;
    }
    /// Frees the slot, whose data are complete or will not come.
    Slot take(std::uint32_t slot);

    std::size_t size() const noexcept { return slots_.size(); }
    std::span<Slot> all() noexcept { return slots_.all(); }
    /// Whether a fetch of existing data is in flight.
    bool has_existing() const noexcept { return existing_ > 0; }
    std::uint32_t of(int owner) const noexcept;

  private:
    Wire const* wire_;
    FlightWindows windows_;
    base::Numbered<Slot> slots_;
    std::unordered_map<int, std::uint32_t> of_owner_;
    std::size_t existing_ = 0;  // fetches whose data exist
};

}  // namespace sluice::fetch
