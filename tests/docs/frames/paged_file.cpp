// SPDX-License-Identifier: BSD-3-Clause
//= block docs/fetch.md: sluice::PagedFile file(context, cubes, bytes_of_a_cube);

/// A rank has columns of numbers, each in two blocks, of which one holds the values before a step and the other those
/// after it. A step adds to each number the one of the column before it; the first column's is the last one of the rank
/// before.
constexpr std::size_t k_columns = 4;
constexpr std::size_t k_numbers = 512;
constexpr sluice::Bytes bytes_of_a_cube{k_numbers * sizeof(double)};

double at_first(std::size_t column, std::size_t i) {
    return static_cast<double>(column * 1000 + i);
}

void relax(std::span<double> before, std::span<double> after, sluice::FetchResult const& ghosts) {
    for (std::size_t i = 0; i < before.size(); ++i)
        after[i] = before[i] + ghosts.as<double>(0)[i];
}

//= paragraphs 2

TEST(Pages, a_file_of_blocks) {
    int const rank = world_rank();
    int const ranks = world_size();
    sluice::Context context(MPI_COMM_WORLD);
    sluice::Store store(context);
    std::size_t const cubes = 2 * k_columns;
    std::vector<sluice::BlockUse> order;
    for (std::size_t column = 0; column < k_columns; ++column) {
        order.push_back({2 * column, sluice::BlockAccess::read});
        order.push_back({2 * column + 1, sluice::BlockAccess::write});
    }
    //= paragraphs 1
    for (std::size_t column = 0; column < k_columns; ++column) {
        auto const block = file.use_now(std::array{sluice::BlockUse{2 * column, sluice::BlockAccess::write}});
        for (std::size_t i = 0; i < k_numbers; ++i)
            block.as<double>(0)[i] = at_first(static_cast<std::size_t>(rank) * k_columns + column, i);
    }
    sluice::Bytes const offset{0};
    sluice::Bytes const bytes = bytes_of_a_cube;
    for (std::size_t column = 0; column < k_columns; ++column) {
        sluice::Key const key{rank, column, 0};
        std::size_t const block = 2 * column;
        //= paragraphs 3
    }
    {
        sluice::Tasks tasks(context);
        for (std::size_t column = 0; column < k_columns; ++column) {
            int const owner = column > 0 ? rank : (rank + ranks - 1) % ranks;
            std::size_t const its = (column + k_columns - 1) % k_columns;
            tasks.spawn(step(store, file, {{{owner, its, 0}, bytes_of_a_cube}}, 2 * column, 2 * column + 1));
        }
        tasks.run();
    }
    std::size_t const all = k_columns * static_cast<std::size_t>(ranks);
    for (std::size_t column = 0; column < k_columns; ++column) {
        auto const block = file.use_now(std::array{sluice::BlockUse{2 * column + 1, sluice::BlockAccess::read}});
        std::size_t const global = static_cast<std::size_t>(rank) * k_columns + column;
        for (std::size_t i = 0; i < k_numbers; ++i)
            ASSERT_EQ(block.as<double const>(0)[i], at_first(global, i) + at_first((global + all - 1) % all, i))
                << column;
    }
}
