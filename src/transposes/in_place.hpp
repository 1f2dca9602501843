// SPDX-License-Identifier: BSD-3-Clause
/// Permutations of one rank's array in place, within a scratch of fixed size.
///
///     a cycle of units:   scratch <── [i]     [i] <── [s(i)]     [s(i)] <── [s(s(i))]     …     last <── scratch
///                                     one bit of the scratch for each unit remembers what is in place
///
/// Each unit is copied once, and one of each cycle twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "transposes/geometry.hpp"

namespace sluice::transposes {

/// Which units are in place. Without room for a bit each, a cycle is known by its lowest unit: it is walked twice, and
/// once more in part for each of its other units.
class Settled {
  public:
    /// Uses as much of `scratch` from its end on as it needs, at most half.
    Settled(std::span<std::byte> scratch, std::uint64_t units) noexcept;
    bool has_bits() const noexcept { return !bits_.empty(); }
    std::size_t bytes() const noexcept { return bits_.size(); }
    void clear() noexcept { std::memset(bits_.data(), 0, bits_.size()); }
    bool is_set(std::uint64_t unit) const noexcept {
        return (std::to_integer<unsigned>(bits_[unit / 8]) >> (unit % 8) & 1U) != 0;
    }
    void set(std::uint64_t unit) noexcept { bits_[unit / 8] |= std::byte{1} << (unit % 8); }

  private:
    std::span<std::byte> bits_;
};

inline void prefetch(std::byte const* unit, std::size_t bytes) noexcept {
    constexpr std::size_t k_line = 64;
    constexpr std::size_t k_most = 1024;  // from there on the processor sees the pattern
    for (std::size_t at = 0; at < bytes && at < k_most; at += k_line)
        __builtin_prefetch(unit + at);
}

/// Fills each of `count` units of `unit` bytes with what unit `source_of(it)` held; `source_of` is a permutation.
/// `scratch` has at least 16 bytes.
template <typename SourceOf>
void permute_in_place(std::byte* data, std::uint64_t count, std::uint64_t unit, std::span<std::byte> scratch,
                      SourceOf const& source_of) noexcept {
    Settled settled(scratch, count);
    std::span<std::byte> const aside = scratch.first(scratch.size() - settled.bytes());
    auto const begins_cycle = [&](std::uint64_t first) {
        if (settled.has_bits()) return !settled.is_set(first);
        std::uint64_t at = source_of(first);
        while (at > first)
            at = source_of(at);
        return at == first;
    };
    for (std::uint64_t done = 0; done < unit;
         done += aside.size()) {  // units larger than the scratch go stripe by stripe
        std::size_t const stripe = unit - done < aside.size() ? unit - done : aside.size();
        auto const place = [&](std::uint64_t at) { return data + at * unit + done; };
        settled.clear();
        for (std::uint64_t first = 0; first < count; ++first) {
            if (!begins_cycle(first) || source_of(first) == first) continue;
            std::memcpy(aside.data(), place(first), stripe);
            std::uint64_t at = first;
            for (std::uint64_t from = source_of(at); from != first;) {
                std::uint64_t const next = source_of(from);
                prefetch(place(next), stripe);  // units lie far apart, where the processor looks ahead too late
                std::memcpy(place(at), place(from), stripe);
                if (settled.has_bits()) settled.set(at);
                at = from;
                from = next;
            }
            std::memcpy(place(at), aside.data(), stripe);
            if (settled.has_bits()) settled.set(at);
        }
    }
}

/// A matrix of units, stored row by row.
struct Matrix {
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t unit;  ///< bytes
    std::int64_t bytes() const noexcept { return rows * columns * unit; }
};

/// Stores a matrix column by column.
void transpose_matrix(std::byte* data, Matrix const& matrix, std::span<std::byte> scratch) noexcept;

/// Stores an array in another order. `extents` are those of the array, `element` its bytes of an element.
void reorder_in_place(std::byte* data, Extents const& extents, Order const& from, Order const& to, std::int64_t element,
                      std::span<std::byte> scratch) noexcept;

}  // namespace sluice::transposes
