// SPDX-License-Identifier: BSD-3-Clause
/// A hash that is the same in every process and every version: ranks compare its values, and reports keep them.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::base {

/// FNV-1a of 64 bits (Fowler, Noll, Vo), fed part by part. Not for keys that an adversary chooses.
class Fnv1a {
  public:
    constexpr Fnv1a& add(unsigned char byte) noexcept {
        value_ = (value_ ^ byte) * 0x0000'0100'0000'01b3ULL;
        return *this;
    }
    constexpr Fnv1a& add(std::string_view text) noexcept {
        for (char const c : text)
            add(static_cast<unsigned char>(c));
        return *this;
    }
    /// Adds all eight bytes, the least significant first.
    constexpr Fnv1a& add(std::uint64_t number) noexcept {
        for (unsigned shift = 0; shift < 64; shift += 8)
            add(static_cast<unsigned char>(number >> shift & 0xff));
        return *this;
    }
    constexpr std::uint64_t value() const noexcept { return value_; }

  private:
    std::uint64_t value_ = 0xcbf2'9ce4'8422'2325ULL;
};

}  // namespace sluice::base
