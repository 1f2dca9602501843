// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/reader/in_flight.hpp"

#include <utility>

namespace sluice::fetch {

std::uint32_t InFlight::depart(Fetch const& fetch, std::shared_ptr<Buffer> buffer) {
    std::uint32_t& of_owner = of_owner_[fetch.request().key.owner];  // first, because both may lack memory
    std::uint32_t const number = slots_.add({.fetch = fetch, .buffer = std::move(buffer)});
    bool const tentative = fetch.set->tentative;
    if (!tentative) ++existing_;
    FetchRequest const& want = fetch.request();
    if (want.key.owner != wire_->rank())
        slots_[number].departure = windows_.to(want.key.owner)
                                       .depart(want.bytes.count, wire_->now(),
                                               tentative ? FlightWindow::Data::to_be_made : FlightWindow::Data::exist);
    ++of_owner;
    return number;
}

InFlight::Slot InFlight::take(std::uint32_t slot) {
    Slot taken = slots_.take(slot);
    if (!taken.fetch.set->tentative) --existing_;
    int const owner = taken.fetch.request().key.owner;
    std::uint64_t const bytes = taken.buffer->bytes;
    if (owner != wire_->rank()) {
        FlightWindow& window = windows_.to(owner);
        if (taken.complete == bytes)
            window.arrive(taken.departure, bytes, wire_->now());
        else
            window.lose(taken.departure, bytes);
    }
    auto const asked = of_owner_.find(owner);
    if (--asked->second == 0) of_owner_.erase(asked);
    return taken;
}

std::uint32_t InFlight::of(int owner) const noexcept {
    auto const asked = of_owner_.find(owner);
    return asked == of_owner_.end() ? 0 : asked->second;
}

}  // namespace sluice::fetch
