// SPDX-License-Identifier: BSD-3-Clause
/// Tells waiting from transfer. Nothing inside MPI can be seen, so the time that bytes explain is estimated: what the
/// quickest call of the same place took for each byte, twice, and at most 10 ns (100 MB/s). The rest is waiting.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "plugin/binding/tally.hpp"
#include "record/record.hpp"

namespace sluice::plugin {

class Transfers {
  public:
    /// Returns how much of a call of `ns` that moved `bytes` was waiting.
    std::uint64_t waiting(std::uint32_t site, std::uint64_t ns, std::uint64_t bytes) noexcept {
        if (bytes < k_few) return ns;  // their transfer takes less than a microsecond
        // Bounded, so that no product overflows.
        std::uint64_t const took =
            ns < k_long ? ns * 1000 / bytes : std::uint64_t{k_slowest};  // picoseconds for each byte
        std::uint32_t best = look_at(quickest_[site]);
        if (best == 0 || took < best) {
            best = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(took, 1, k_slowest));
            put(quickest_[site], best);
        }
        std::uint64_t const each = std::min<std::uint64_t>(std::uint64_t{2} * best, k_slowest);
        std::uint64_t const transfer = bytes / 1000 * each + bytes % 1000 * each / 1000;
        return ns - std::min(ns, transfer);
    }

  private:
    static constexpr std::uint64_t k_few = 256;
    static constexpr std::uint64_t k_long = std::uint64_t{1} << 50;  // 13 days
    static constexpr std::uint32_t k_slowest = 10'000;

    std::array<std::uint32_t, record::k_sites> quickest_{};  // picoseconds for each byte; 0: not yet known
};

}  // namespace sluice::plugin
