// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/growth/makings.hpp"

#include <algorithm>

#include "base/fixed_table.hpp"
#include "plugin/tables/growth/held.hpp"

namespace sluice::plugin {

void Makings::measured(std::uint32_t site, std::uint64_t bytes) noexcept {
    CallersLock const lock(changing_);
    Place& place = places_[site];
    // What the first one takes is there for all.
    if (place.measured++ > 0) {
        place.inside += bytes;
        put(inside_, inside_ + bytes);
    }
    put(is_outside_, true);
    put(is_measuring_, false);
    // Not in the rhythm in which the program makes objects, or the MPI takes memory for several of them.
    std::uint64_t const stride = std::clamp(unread_ / 16, k_often, k_seldom);
    put(left_, stride + (unread_ * base::k_golden >> 32) % (stride / 2));
    if (inside_ + look_at(outside_) <= k_remembered) return;
    put(inside_, inside_ / 2);
    put(outside_, look_at(outside_) / 2);
}

void Makings::unread(record::Object kind, std::uint32_t site, std::uint64_t ticks) noexcept {
    CallersLock const lock(changing_);
    Place& place = places_[site];
    put(ticks_, ticks_ + ticks);
    ++unread_;
    if (look_at(left_) > 0) put(left_, left_ - 1);
    if (place.unread == 0) {
        if (used_ == k_places) return;  // the other places have its part
        waiting_[used_++] = site;
    }
    ++place.unread;
    place.kind = kind;
}

Makings::Part Makings::part_of(std::uint64_t grown, double most) const noexcept {
    std::uint64_t const ticks = look_at(ticks_);
    if (ticks == 0 || grown == 0) return {0, ticks};
    auto const inside = static_cast<double>(look_at(inside_) + k_prior);
    double const share = inside / (inside + static_cast<double>(look_at(outside_)));
    double const bytes = std::min(static_cast<double>(grown) * share, static_cast<double>(ticks) * most);
    return {std::min(static_cast<std::uint64_t>(bytes), grown), ticks};
}

Makings::Part Makings::share_out(std::uint64_t grown, double most, std::uint64_t resident,
                                 std::uint64_t now_us) noexcept {
    Part const part = part_of(grown, most);
    if (part.ticks == 0) return part;
    CallersLock const lock(changing_);
    double all = 0;
    for (std::size_t i = 0; i < used_; ++i)
        all += weight_of(places_[waiting_[i]]);
    for (std::size_t i = 0; i < used_; ++i) {
        Place& place = places_[waiting_[i]];
        auto const bytes = static_cast<std::uint64_t>(static_cast<double>(part.bytes) * weight_of(place) / all);
        place.unread = 0;
        if (bytes == 0) continue;
        record::Site& site = record_.sites[waiting_[i]];
        take(site, {bytes, 0}, resident, now_us, Measured::by_share);
        take(record_.head.objects[static_cast<std::size_t>(place.kind)], bytes, Measured::by_share);
    }
    used_ = 0;
    put(ticks_, std::uint64_t{0});
    return part;
}

}  // namespace sluice::plugin
