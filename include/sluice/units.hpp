// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Bytes as a type of its own, so that a number of blocks is never mistaken for a number of bytes.
#pragma once

#include <compare>
#include <cstdint>

namespace sluice {

/// A number of bytes: `Bytes{n}`, `64_KiB`. Sums, differences and products are those of 64-bit unsigned numbers,
/// without a check for overflow.
struct Bytes {
    std::uint64_t count = 0;  ///< the number

    constexpr auto operator<=>(Bytes const&) const = default;
    constexpr Bytes& operator+=(Bytes other) {
        count += other.count;
        return *this;
    }
    constexpr Bytes& operator-=(Bytes other) {
        count -= other.count;
        return *this;
    }
    friend constexpr Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
    friend constexpr Bytes operator-(Bytes a, Bytes b) { return {a.count - b.count}; }
    friend constexpr Bytes operator*(Bytes a, std::uint64_t n) { return {a.count * n}; }
    friend constexpr Bytes operator/(Bytes a, std::uint64_t n) { return {a.count / n}; }
};

/// `8_B`, `64_KiB`, `2_MiB`, `1_GiB`.
inline namespace literals {
constexpr Bytes operator""_B(unsigned long long n) {
    return {n};
}
constexpr Bytes operator""_KiB(unsigned long long n) {
    return {n << 10};
}
constexpr Bytes operator""_MiB(unsigned long long n) {
    return {n << 20};
}
constexpr Bytes operator""_GiB(unsigned long long n) {
    return {n << 30};
}
}  // namespace literals

}  // namespace sluice
