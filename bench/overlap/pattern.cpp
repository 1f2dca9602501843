// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/pattern.hpp"

#include <algorithm>
#include <cstring>

namespace sluice::bench {

namespace {

constexpr std::size_t k_word = sizeof(std::uint64_t);

/// Every byte of the word changes with the round and with the index.
std::uint64_t word_at(std::size_t index, std::uint64_t round) {
    std::uint64_t const mixed = (index + 1) * 0x9e3779b97f4a7c15U + round * 0xd1b54a32d192ed03U;
    return mixed ^ (mixed >> 29U);
}

}  // namespace

void write_pattern(std::span<std::byte> bytes, std::uint64_t round) {
    for (std::size_t at = 0; at < bytes.size(); at += k_word) {
        std::uint64_t const word = word_at(at / k_word, round);
        std::memcpy(bytes.data() + at, &word, std::min(k_word, bytes.size() - at));
    }
}

std::size_t first_wrong_byte(std::span<std::byte const> bytes, std::uint64_t round) {
    for (std::size_t at = 0; at < bytes.size(); at += k_word) {
        std::uint64_t const word = word_at(at / k_word, round);
        std::size_t const count = std::min(k_word, bytes.size() - at);
        if (std::memcmp(bytes.data() + at, &word, count) == 0) continue;
        auto const* const expected = reinterpret_cast<std::byte const*>(&word);
        auto const first = std::mismatch(expected, expected + count, bytes.data() + at).first;
        return at + static_cast<std::size_t>(first - expected);
    }
    return bytes.size();
}

}  // namespace sluice::bench
