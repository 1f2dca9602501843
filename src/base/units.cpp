// SPDX-License-Identifier: BSD-3-Clause
#include "base/units.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "base/text/trimmed.hpp"
#include "sluice/error.hpp"

namespace sluice::base {

namespace {

struct Unit {
    std::string_view name;
    std::uint64_t bytes;
};

constexpr std::uint64_t power(std::uint64_t base, int exponent) {
    std::uint64_t result = 1;
    for (int i = 0; i < exponent; ++i)
        result *= base;
    return result;
}

// The binary units come first and in rising order: exact_bytes and format_bytes walk over these.
constexpr std::size_t k_binary_units = 6;
constexpr std::array k_units{
    Unit{"B", 1},
    Unit{"KiB", power(1024, 1)},
    Unit{"MiB", power(1024, 2)},
    Unit{"GiB", power(1024, 3)},
    Unit{"TiB", power(1024, 4)},
    Unit{"PiB", power(1024, 5)},
    Unit{"", 1},
    Unit{"K", power(1024, 1)},
    Unit{"M", power(1024, 2)},
    Unit{"G", power(1024, 3)},
    Unit{"T", power(1024, 4)},
    Unit{"P", power(1024, 5)},
    Unit{"kB", power(1000, 1)},
    Unit{"KB", power(1000, 1)},
    Unit{"MB", power(1000, 2)},
    Unit{"GB", power(1000, 3)},
    Unit{"TB", power(1000, 4)},
    Unit{"PB", power(1000, 5)},
};

std::string_view take_digits(std::string_view& text) {
    std::size_t const end = text.find_first_not_of("0123456789");
    std::string_view const digits = text.substr(0, end);
    text.remove_prefix(digits.size());
    return digits;
}

[[noreturn]] void refuse(std::string_view text, std::string const& why) {
    throw Error(ErrorCode::invalid_argument,
                "'" + std::string(text) + "' is not a size: " + why + "; write for example 4096, 64MiB or 1.5GB");
}

// Whole part and fraction are kept in integers, so that no size is off by a rounding of doubles.
std::uint64_t whole_part(std::string_view text, std::string_view digits, std::uint64_t unit) {
    std::uint64_t const most = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t value = 0;
    for (char const c : digits) {
        std::uint64_t const digit = static_cast<std::uint64_t>(c - '0');
        if (value > (most - digit) / 10) refuse(text, "more than 2^64 bytes");
        value = value * 10 + digit;
    }
    if (value > most / unit) refuse(text, "more than 2^64 bytes");
    return value * unit;
}

std::uint64_t fraction_part(std::string_view digits, std::uint64_t unit) {
    std::uint64_t value = 0;  // from the last digit to the first; 10 · 2^50 stays below 2^64
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit)
        value = (value + static_cast<std::uint64_t>(*digit - '0') * unit) / 10;
    return value;
}

}  // namespace

Bytes parse_bytes(std::string_view text) {
    std::string_view rest = trimmed(text);
    std::string_view const whole = take_digits(rest);
    if (whole.empty()) refuse(text, "it does not begin with a digit");
    std::string_view fraction;
    if (!rest.empty() && rest.front() == '.') {
        rest.remove_prefix(1);
        fraction = take_digits(rest);
        if (fraction.empty()) refuse(text, "no digit after the point");
    }
    rest = trimmed(rest);
    for (Unit const& unit : k_units) {
        if (rest != unit.name) continue;
        if (!fraction.empty() && unit.bytes == 1) refuse(text, "a fraction of a byte");
        std::uint64_t const base = whole_part(text, whole, unit.bytes);
        std::uint64_t const more = fraction_part(fraction, unit.bytes);
        if (base > std::numeric_limits<std::uint64_t>::max() - more) refuse(text, "more than 2^64 bytes");
        return {base + more};
    }
    refuse(text, "unknown unit '" + std::string(rest) + "'");
}

std::string exact_bytes(Bytes bytes) {
    if (bytes.count == 0) return "0";
    Unit best = k_units[0];
    for (std::size_t i = 1; i < k_binary_units; ++i)
        if (bytes.count % k_units[i].bytes == 0) best = k_units[i];
    std::string const number = std::to_string(bytes.count / best.bytes);
    return best.bytes == 1 ? number : number + std::string(best.name);
}

std::string format_bytes(Bytes bytes) {
    Unit best = k_units[0];
    for (std::size_t i = 1; i < k_binary_units; ++i)
        if (bytes.count >= k_units[i].bytes) best = k_units[i];
    if (bytes.count % best.bytes == 0) return std::to_string(bytes.count / best.bytes) + " " + std::string(best.name);
    std::array<char, 32> number{};
    std::snprintf(number.data(), number.size(), "%.2f ",
                  static_cast<double>(bytes.count) / static_cast<double>(best.bytes));
    return number.data() + std::string(best.name);
}

}  // namespace sluice::base
