// SPDX-License-Identifier: BSD-3-Clause
/// The places in the program that call MPI, told apart by caller (binding/callers/callers.hpp) and function. At most
/// record::k_sites of them; those that come later share entry 0.
///
/// Where a library was unloaded, another one may have its addresses. So callers in libraries that the program has
/// opened are looked up anew after each unloading:
///
///     caller, function ──> slot ── never unloaded ───────────────────────────> site
///                               └─ opened ── unloaded since? ── no ──────────> site
///                                                            └─ yes: which file is there now? ──> its site
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>

#include "base/fixed_table.hpp"
#include "functions.hpp"
#include "record/record.hpp"

namespace sluice::plugin {

class Sites {
  public:
    explicit Sites(record::RankRecord& record);

    /// Index of the site; makes it at the first call. Thread-safe; no lock once it is known.
    std::uint32_t of(Function function, void const* caller) noexcept {
        std::uint32_t const* const index =
            indices_.find_or_add(key_of(function, caller), [&] { return add(function, caller); });
        if (index == nullptr) return 0;
        if (slots_[*index].may_go) [[unlikely]]
            return site_now(*index, function, caller);
        return *index;
    }

  private:
    // Four slots for each site, so that a search for an unknown site ends soon.
    using Indices = base::FixedTable<std::uint32_t, 10>;
    static_assert(Indices::k_most >= record::k_sites);

    /// Addresses have 48 bits, functions fit in the rest.
    static std::uint64_t key_of(Function function, void const* caller) noexcept {
        return (static_cast<std::uint64_t>(function) + 1) << 48 |
               (reinterpret_cast<std::uint64_t>(caller) & 0xffff'ffff'ffffULL);
    }
    /// Nothing if the record has no room for another site.
    std::optional<std::uint32_t> add(Function function, void const* caller) noexcept;
    std::uint32_t site_now(std::uint32_t index, Function function, void const* caller) noexcept;
    /// The site of this function at a place in a file; nothing if there is none.
    std::optional<std::uint32_t> known_at(Function function, std::uint64_t mark, std::uint64_t offset) const noexcept;

    /// Of a caller and function; its number is that of the site that it had first.
    struct Slot {
        bool may_go = false;  // never changes
        std::uint32_t site = 0;
        std::uint64_t unloads = 0;  // until then it had this site
    };

    record::RankRecord& record_;
    Indices indices_;
    std::mutex adding_;
    std::array<Slot, record::k_sites> slots_{};
};

}  // namespace sluice::plugin
