// SPDX-License-Identifier: BSD-3-Clause
/// With the setting `check` (data, all) the hash of what was published or sent travels with the data, and the reader
/// compares it with that of what arrived.
///
///     publish: hash ── hash, data ──> reader: same hash, or the fetch fails ── differs ──> owner: its next look throws
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "fetch/wire.hpp"

namespace sluice::fetch {

/// Nothing if data are not checked.
using DataHash = std::optional<std::uint64_t>;

std::uint64_t hash_of(std::span<std::byte const> data) noexcept;
/// Whether `data` are not those with this hash.
inline bool differs(DataHash const& hash, std::span<std::byte const> data) noexcept {
    return hash && *hash != hash_of(data);
}

/// A hash as the text of a control message; an empty text is no hash.
std::string_view text_of(DataHash const& hash) noexcept;
DataHash hash_in(std::string_view text) noexcept;

/// The data of this rank of which readers have told that they got other bytes.
class DataFaults {
  public:
    /// The data were published, or sent if `was_sent`.
    void add(int owner, int reader, Name const& name, bool was_sent);
    std::uint64_t number() const noexcept { return number_; }
    /// Throws one error for all faults that have not been thrown, if there are any.
    void throw_any();

  private:
    std::uint64_t number_ = 0;
    int owner_ = 0;
    int reader_ = 0;
    Name name_;
    bool was_sent_ = false;
};

}  // namespace sluice::fetch
