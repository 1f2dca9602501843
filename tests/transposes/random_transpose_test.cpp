// SPDX-License-Identifier: BSD-3-Clause
/// Transposes of random extents, parts, orders, element sizes and stagings against the sequential result.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "support/effort.hpp"
#include "support/property.hpp"
#include "transposes/geometry.hpp"
#include "transposes/transpose_bed.hpp"

namespace sluice::tests {
namespace {

constexpr std::array<std::array<int, 3>, 6> k_orders{
    {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
constexpr std::array<std::uint64_t, 10> k_elements{1, 2, 3, 4, 7, 8, 16, 24, 100, 1000};
constexpr std::array<std::uint64_t, 5> k_stagings{4096, 10'000, 64 << 10, 256 << 10, 8 << 20};

/// Numbers from which a transpose is made: small ones make simple transposes, so a failing case shrinks to one.
struct Drawn {
    static constexpr std::size_t k_numbers = 14;
    std::vector<std::uint64_t> numbers;

    std::vector<std::uint64_t> encode() const { return numbers; }
    static Drawn decode(std::vector<std::uint64_t> const& code) { return {code}; }

    int number(std::size_t i, std::uint64_t below) const { return static_cast<int>(numbers[i] % below); }

    TransposeCase made(int ranks) const {
        TransposeCase one;
        one.shape.element = {k_elements[static_cast<std::size_t>(number(10, k_elements.size()))]};
        std::uint64_t const most = one.shape.element.count > 100 ? 7 : number(12, 5) == 4 ? 40 : 20;
        for (std::size_t axis = 0; axis < 3; ++axis)
            one.shape.extents[axis] = number(axis, most);
        std::vector<int> divisors;
        for (int parts = 1; parts <= ranks; ++parts)
            if (ranks % parts == 0) divisors.push_back(parts);
        int const others = divisors[static_cast<std::size_t>(number(3, divisors.size()))];
        auto const x = static_cast<std::size_t>(number(4, 3));
        std::size_t const y = (x + 1 + static_cast<std::size_t>(number(5, 2))) % 3;
        std::size_t const z = 3 - x - y;
        // Groups must be the same ranks before and afterwards, which depends on the order of the axes.
        bool const divides_z = (x < z) == (y < z);
        int const along_z = divides_z ? others : 1;
        one.before.grid[x] = one.after.grid[y] = ranks / along_z;
        one.before.grid[z] = one.after.grid[z] = along_z;
        one.before.order = k_orders[static_cast<std::size_t>(number(6, 6))];
        one.after.order = k_orders[static_cast<std::size_t>(number(7, 6))];
        block(one.before, one.shape, x, number(8, 4));
        if (one.before.grid != one.after.grid) block(one.after, one.shape, y, number(9, 4));
        one.after.block[z] = one.before.block[z];
        if (one.before.grid == one.after.grid) one.after.block = one.before.block;
        one.staging = {k_stagings[static_cast<std::size_t>(number(11, k_stagings.size()))]};
        bool const of_doubles = one.shape.element.count % 8 == 0;
        if (of_doubles && number(12, 3) == 2) one.wire = WireType::float_for_double;
        return one;
    }

    /// Whether memory of other ranks may not be read.
    bool sends() const { return number(13, 3) == 2; }

  private:
    /// Blocks of FFTW, or larger ones, in place of even parts.
    static void block(ArrayLayout& layout, ArrayShape const& shape, std::size_t axis, int how) {
        if (how < 2) return;
        std::int64_t const least = (shape.extents[axis] + layout.grid[axis] - 1) / layout.grid[axis];
        layout.block[axis] = std::max<std::int64_t>(1, how == 2 ? least : least + least / 3 + 1);
    }
};

std::ostream& operator<<(std::ostream& out, Drawn const& drawn) {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    TransposeCase const one = drawn.made(ranks);
    return out << transposes::text_of(one.shape, one.before, one.after) << ", staging " << one.staging.count
               << (one.wire == WireType::as_stored ? "" : ", floats for doubles")
               << (drawn.sends() ? ", messages" : "");
}

TEST(Transpose, of_any_array_is_the_sequential_result) {
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Context usual(MPI_COMM_WORLD, Settings{});
    Settings settings;
    settings.transport = Transport::message;
    Context sending(MPI_COMM_WORLD, settings);
    auto const numbers =
        rc::gen::container<std::vector<std::uint64_t>>(Drawn::k_numbers, rc::gen::inRange<std::uint64_t>(0, 240));
    auto const generator = rc::gen::map(numbers, [](std::vector<std::uint64_t> const& all) { return Drawn{all}; });
    check_on_all_ranks<Drawn>("transpose", generator, effort(300), [&](Drawn const& drawn) {
        TransposeCase const one = drawn.made(ranks);
        Context& context = drawn.sends() ? sending : usual;
        TransposeOptions const options{one.staging, one.wire};
        std::string problem = problem_of_transpose(one, rank, [&](std::byte const* from, std::byte* to) {
            transpose(context, one.shape, one.before, one.after, from, to, options);
        });
        // There and back, twice, with plans. Also after a problem, which other ranks may not have.
        TransposePlan forth(context, one.shape, one.before, one.after, options);
        TransposePlan back(context, one.shape, one.after, one.before, options);
        GuardedPart array(std::max(bytes_of_part(one, one.before, rank), bytes_of_part(one, one.after, rank)));
        fill_part(one, one.before, rank, array.data());
        for (int time = 0; time < 2; ++time) {
            forth.apply(array.data());
            if (problem.empty()) problem = problem_of_part(one, one.after, rank, array.data());
            back.apply(array.data());
            if (problem.empty()) problem = problem_of_part(one, one.before, rank, array.data());
        }
        return array.guards_are_whole() ? problem : "a guard was overwritten by a plan";
    });
}

}  // namespace
}  // namespace sluice::tests
