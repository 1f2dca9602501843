// SPDX-License-Identifier: BSD-3-Clause
/// Parts that the tests of transposes share: elements that name their place in the whole array, memory with guards, and
/// layouts that belong together.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "sluice/transpose.hpp"

namespace sluice::tests {

/// One transpose to try.
struct TransposeCase {
    ArrayShape shape;
    ArrayLayout before;
    ArrayLayout after;
    WireType wire = WireType::as_stored;
    Bytes staging{2 << 20};
};

/// A word that names one number of an element of the whole array.
inline std::uint64_t word_of(std::uint64_t element, std::uint64_t number) {
    std::uint64_t word = (element * 64 + number + 1) * 0x9e3779b97f4a7c15ULL;
    return word ^ word >> 29;
}

/// Writes what an element has: doubles if they shall travel as floats, which are exact as floats; else any bytes.
inline void write_element(std::byte* to, std::uint64_t element, TransposeCase const& one) {
    std::uint64_t const bytes = one.shape.element.count;
    for (std::uint64_t at = 0; at < bytes; at += 8) {
        std::uint64_t word = word_of(element, at / 8);
        if (one.wire == WireType::float_for_double) {
            auto const value = static_cast<double>(word % (1 << 20)) - 1000;
            std::memcpy(&word, &value, sizeof word);
        }
        std::memcpy(to + at, &word, std::min<std::uint64_t>(8, bytes - at));
    }
}

/// Memory for a part, with guards around it, at an address that is not aligned.
class GuardedPart {
  public:
    explicit GuardedPart(std::uint64_t bytes) : bytes_(bytes), memory_(bytes + 2 * k_guard, std::byte{0xa5}) {}
    std::byte* data() noexcept { return memory_.data() + k_guard; }
    bool guards_are_whole() const noexcept {
        for (std::uint64_t i = 0; i < k_guard; ++i)
            if (memory_[i] != std::byte{0xa5} || memory_[k_guard + bytes_ + i] != std::byte{0xa5}) return false;
        return true;
    }

  private:
    static constexpr std::uint64_t k_guard = 61;
    std::uint64_t bytes_;
    std::vector<std::byte> memory_;
};

/// Calls `visit(position in the part, number of the element in the whole array)` for each element of a rank.
template <typename Visit>
void for_each_element(TransposeCase const& one, ArrayLayout const& layout, int rank, Visit const& visit) {
    ArrayPart const part = part_of(one.shape.extents, layout, rank);
    std::array<std::int64_t, 3> at{};
    std::uint64_t position = 0;
    auto const axis = [&](std::size_t i) { return static_cast<std::size_t>(layout.order[i]); };
    std::size_t const a = axis(0);
    std::size_t const b = axis(1);
    std::size_t const c = axis(2);
    for (at[a] = part.begin[a]; at[a] < part.end[a]; ++at[a])
        for (at[b] = part.begin[b]; at[b] < part.end[b]; ++at[b])
            for (at[c] = part.begin[c]; at[c] < part.end[c]; ++at[c])
                visit(position++, static_cast<std::uint64_t>(
                                      (at[0] * one.shape.extents[1] + at[1]) * one.shape.extents[2] + at[2]));
}

inline void fill_part(TransposeCase const& one, ArrayLayout const& layout, int rank, std::byte* data) {
    for_each_element(one, layout, rank, [&](std::uint64_t position, std::uint64_t element) {
        write_element(data + position * one.shape.element.count, element, one);
    });
}

/// Returns what is wrong with a part, or an empty text. This is the sequential result: an element lies where the layout
/// says, whatever was moved.
inline std::string problem_of_part(TransposeCase const& one, ArrayLayout const& layout, int rank,
                                   std::byte const* data) {
    std::string problem;
    std::vector<std::byte> expected(one.shape.element.count + 8);
    for_each_element(one, layout, rank, [&](std::uint64_t position, std::uint64_t element) {
        write_element(expected.data(), element, one);
        bool const same =
            std::memcmp(expected.data(), data + position * one.shape.element.count, one.shape.element.count) == 0;
        if (!same && problem.empty())
            problem = "rank " + std::to_string(rank) + ": position " + std::to_string(position) +
                      " does not hold element " + std::to_string(element);
    });
    return problem;
}

inline std::uint64_t bytes_of_part(TransposeCase const& one, ArrayLayout const& layout, int rank) {
    return part_of(one.shape.extents, layout, rank).elements() * one.shape.element.count;
}

/// Collective. Transposes in place and from one array into another, with `move(from, to)`; returns what is wrong.
template <typename Move>
std::string problem_of_transpose(TransposeCase const& one, int rank, Move const& move) {
    std::uint64_t const had = bytes_of_part(one, one.before, rank);
    std::uint64_t const has = bytes_of_part(one, one.after, rank);
    std::string problem;
    auto const note = [&](std::string const& what, std::string const& where) {
        if (problem.empty() && !what.empty()) problem = where + ": " + what;
    };
    {
        GuardedPart array(std::max(had, has));
        fill_part(one, one.before, rank, array.data());
        move(array.data(), array.data());
        note(problem_of_part(one, one.after, rank, array.data()), "in place");
        if (!array.guards_are_whole()) note("a guard was overwritten", "in place");
    }
    GuardedPart from(had);
    GuardedPart to(has);
    fill_part(one, one.before, rank, from.data());
    move(from.data(), to.data());
    note(problem_of_part(one, one.after, rank, to.data()), "into another array");
    note(problem_of_part(one, one.before, rank, from.data()), "the array that was read");
    if (!from.guards_are_whole() || !to.guards_are_whole()) note("a guard was overwritten", "into another array");
    return problem;
}

}  // namespace sluice::tests
