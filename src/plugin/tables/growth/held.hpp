// SPDX-License-Identifier: BSD-3-Clause
/// What the MPI holds on account of a place: it takes memory in calls of the place, and gives it back in these or in
/// others. The growth of a place is the most that it held at a time.
///
///     MPI_Win_allocate   take ──> held ──> grown: the most so far
///     MPI_Win_free       give_back: from the place that made the object, else from the call's own, else from those
///                        that took lately, the last one first
///
/// Written under the lock of readings (memory_watch.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "plugin/binding/tally.hpp"
#include "record/record.hpp"

namespace sluice::plugin {

/// Whether the growth is that of one call, between two readings, or a part of what several brought.
enum class Measured { exactly, by_share };

/// Bytes of the MPI.
struct Taken {
    std::uint64_t private_bytes = 0;
    std::uint64_t shared_bytes = 0;
    std::uint64_t all() const noexcept { return private_bytes + shared_bytes; }
};

/// What a call must take for its place to be one where memory grows; a few pages are nothing.
inline constexpr std::uint64_t k_growth = 65536;

/// `most`: bytes that the process has now; no place holds more.
inline void take(record::Site& site, Taken const& bytes, std::uint64_t most, std::uint64_t start_us,
                 Measured how) noexcept {
    if (bytes.all() == 0) return;
    Taken held{look_at(site.held_private) + bytes.private_bytes, look_at(site.held_shared) + bytes.shared_bytes};
    held.shared_bytes = std::min(held.shared_bytes, most);
    held.private_bytes = std::min(held.private_bytes, most - held.shared_bytes);
    put(site.held_private, held.private_bytes);
    put(site.held_shared, held.shared_bytes);
    std::uint64_t const before = look_at(site.grown_private) + look_at(site.grown_shared);
    if (held.all() > before) {
        put(site.grown_private, held.private_bytes);
        put(site.grown_shared, held.shared_bytes);
        if (how == Measured::by_share) put(site.estimated, look_at(site.estimated) + held.all() - before);
    }
    if (bytes.all() >= k_growth && look_at(site.growing_since_us) == 0)
        put(site.growing_since_us, std::max<std::uint64_t>(start_us, 1));
}

/// The same for all objects of a kind; several threads may write these.
inline void take(record::ObjectCount& count, std::uint64_t bytes, Measured how) noexcept {
    if (bytes == 0) return;
    add(count.held, bytes);
    std::uint64_t const before = look_at(count.grown);
    std::uint64_t const held = look_at(count.held);
    if (held <= before) return;
    raise(count.grown, held);
    if (how == Measured::by_share) add(count.estimated, held - before);
}

inline void give_back(record::ObjectCount& count, std::uint64_t bytes) noexcept {
    std::uint64_t const held = look_at(count.held);
    subtract(count.held, std::min(held, bytes));
}

/// Takes `bytes` from what the site holds; what is left of them is returned.
inline Taken give_back(record::Site& site, Taken bytes) noexcept {
    std::uint64_t const of_private = std::min(bytes.private_bytes, look_at(site.held_private));
    std::uint64_t const of_shared = std::min(bytes.shared_bytes, look_at(site.held_shared));
    put(site.held_private, look_at(site.held_private) - of_private);
    put(site.held_shared, look_at(site.held_shared) - of_shared);
    return {bytes.private_bytes - of_private, bytes.shared_bytes - of_shared};
}

/// It was the application's: the site has never taken it.
inline void untake(record::Site& site, std::uint64_t private_bytes) noexcept {
    for (std::uint64_t* const bytes : {&site.held_private, &site.grown_private})
        put(*bytes, look_at(*bytes) - std::min(look_at(*bytes), private_bytes));
}

/// It was not the site's: a share by time.
inline void untake_share(record::Site& site, std::uint64_t bytes) noexcept {
    if (bytes == 0) return;
    put(site.estimated, look_at(site.estimated) - std::min(look_at(site.estimated), bytes));
    std::uint64_t const of_private = std::min(bytes, look_at(site.grown_private));
    untake(site, of_private);
    for (std::uint64_t* const shared : {&site.held_shared, &site.grown_shared})
        put(*shared, look_at(*shared) - std::min(look_at(*shared), bytes - of_private));
}

/// The places that took memory lately.
class Holders {
  public:
    void took(record::Site& site) noexcept {
        auto const at = std::find(latest_.begin(), latest_.end() - 1, &site);
        std::rotate(latest_.begin(), at, at + 1);
        latest_.front() = &site;
    }
    /// `maker`: the place that made the object that is freed, or null.
    void give_back(record::Site* maker, record::Site& own, Taken bytes) const noexcept {
        if (maker != nullptr) bytes = plugin::give_back(*maker, bytes);
        bytes = plugin::give_back(own, bytes);
        for (std::size_t i = 0; i < latest_.size() && bytes.all() > 0 && latest_[i] != nullptr; ++i)
            bytes = plugin::give_back(*latest_[i], bytes);
    }

  private:
    std::array<record::Site*, 8> latest_{};
};

}  // namespace sluice::plugin
