// SPDX-License-Identifier: BSD-3-Clause
/// The places in the program that call MPI, told apart by caller (binding/callers/callers.hpp) and function. At most
/// record::k_sites of them; those that come later share entry 0.
#pragma once

#include <cstdint>
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
        return index != nullptr ? *index : 0;
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

    record::RankRecord& record_;
    Indices indices_;
};

}  // namespace sluice::plugin
