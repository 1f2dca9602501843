// SPDX-License-Identifier: BSD-3-Clause
#include "../../examples/common/hilbert.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

using examples::Cell;

TEST(Hilbert, visits_the_four_cells_of_order_one_as_drawn) {
    EXPECT_EQ(examples::hilbert_cell(1, 0), (Cell{0, 0}));
    EXPECT_EQ(examples::hilbert_cell(1, 1), (Cell{0, 1}));
    EXPECT_EQ(examples::hilbert_cell(1, 2), (Cell{1, 1}));
    EXPECT_EQ(examples::hilbert_cell(1, 3), (Cell{1, 0}));
}

TEST(Hilbert, visits_every_cell_once) {
    for (unsigned order = 0; order <= 8; ++order) {
        std::uint32_t const side = 1U << order;
        std::vector<bool> visited(std::size_t{side} * side);
        for (std::uint32_t y = 0; y < side; ++y) {
            for (std::uint32_t x = 0; x < side; ++x) {
                std::uint64_t const position = examples::hilbert_position(order, {x, y});
                ASSERT_LT(position, visited.size()) << "order " << order << ", cell " << x << ", " << y;
                EXPECT_FALSE(visited[position]) << "order " << order << ", cell " << x << ", " << y;
                visited[position] = true;
                EXPECT_EQ(examples::hilbert_cell(order, position), (Cell{x, y})) << "order " << order;
            }
        }
    }
}

TEST(Hilbert, goes_from_neighbour_to_neighbour) {
    for (unsigned order = 1; order <= 8; ++order) {
        for (std::uint64_t position = 1; position < std::uint64_t{1} << (2 * order); ++position) {
            Cell const from = examples::hilbert_cell(order, position - 1);
            Cell const to = examples::hilbert_cell(order, position);
            auto const across = std::abs(static_cast<long>(to.x) - static_cast<long>(from.x));
            auto const up = std::abs(static_cast<long>(to.y) - static_cast<long>(from.y));
            ASSERT_EQ(across + up, 1) << "order " << order << ", position " << position;
        }
    }
}

TEST(Hilbert, keeps_its_ends_on_the_lower_edge) {
    for (unsigned order = 1; order <= 31; ++order) {
        std::uint32_t const last = (std::uint32_t{1} << order) - 1;
        EXPECT_EQ(examples::hilbert_position(order, {0, 0}), 0U);
        EXPECT_EQ(examples::hilbert_position(order, {last, 0}), (std::uint64_t{1} << (2 * order)) - 1)
            << "order " << order;
    }
}
