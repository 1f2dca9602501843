// SPDX-License-Identifier: BSD-3-Clause
/// Buffers of the program whose pages may become resident inside MPI after the call that named them: those of open
/// requests, of windows, of buffered sends, and where one-sided and split collective calls put their data.
///
///     lend ──> pages are missing ── some come in a later call, or between two samples ──> find, give_back
///              └── find: they are the application's, although it was inside MPI when they came
///
/// Requests look at theirs themselves and tell what is still missing; the others are found here. So are the buffers of
/// calls that had no time to look again (LookShare): the last k_unlooked of them. At most k_room buffers are known;
/// pages of what comes beyond that count as the MPI's if they come inside it. Nothing here allocates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "plugin/tables/open/look_share.hpp"

namespace sluice::plugin {

class LentBuffers {
  public:
    static constexpr std::size_t k_room = 64;
    static constexpr std::uint32_t k_unknown = k_room;  ///< the place of what found no room
    // Owners that are no window. A key of a handle is never so low.
    static constexpr std::uint64_t k_request = 1;
    static constexpr std::uint64_t k_buffered_sends = 2;
    static constexpr std::uint64_t k_late_data = 3;
    static constexpr std::uint64_t k_without_look = 4;
    static constexpr std::uint32_t k_unlooked = 8;

    /// `missing`: bytes whose pages are not resident, more than 0. Returns the place.
    std::uint32_t lend(std::uint64_t owner, void const* from, std::uint64_t span, std::uint64_t missing) noexcept;
    /// Of a request: the pages that it has found are no news any more.
    void still_misses(std::uint32_t place, std::uint64_t bytes) noexcept;
    void give_back(std::uint32_t place) noexcept;
    /// All of an owner, or the one that begins at `from`.
    void give_back_all(std::uint64_t owner) noexcept;
    void give_back(std::uint64_t owner, void const* from) noexcept;
    /// The same as `lend` for a call that has not looked at its buffer again. The program may use the memory for
    /// something else from here on: buffers that overlap this one go for it, else the oldest of k_unlooked.
    void lend_without_look(void const* from, std::uint64_t span, std::uint64_t missing) noexcept;
    /// True if such a one covers the buffer.
    bool has_without_look(void const* from, std::uint64_t span) const noexcept;

    /// Bytes that became resident since the last look, of all that are not of requests.
    std::uint64_t find() noexcept;
    /// The same of one owner before it gives its buffers back, or the one that begins at `from`, as far as `share`
    /// has time for it. `from`: null for all.
    std::uint64_t find(std::uint64_t owner, void const* from, LookShare& share) noexcept;
    /// The same for all, without that they are found: for a sample.
    std::uint64_t come() const noexcept;

  private:
    struct Entry {
        std::uint64_t owner = 0;  // 0: free
        void const* from = nullptr;
        std::uint64_t span = 0;
        std::uint64_t missing = 0;
        bool operator==(Entry const&) const = default;
    };
    std::uint32_t place_for(Entry const& what) noexcept;
    void free(Entry& entry) noexcept;
    std::uint64_t find_in(Entry& entry) noexcept;

    // The helper thread looks, too. Pages are asked for only of entries, so this is taken seldom.
    mutable std::mutex changing_;
    std::array<Entry, k_room> entries_{};
    std::size_t used_ = 0;
    std::array<std::uint32_t, k_unlooked> unlooked_{k_unknown, k_unknown, k_unknown, k_unknown,
                                                    k_unknown, k_unknown, k_unknown, k_unknown};
    std::uint32_t next_unlooked_ = 0;
};

}  // namespace sluice::plugin
