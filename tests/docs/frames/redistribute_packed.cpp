// SPDX-License-Identifier: BSD-3-Clause
//= block docs/redistribute.md: sluice::redistribute(context, values, sizes, owners);
//= paragraphs 1

/// Block i of the whole array has i % 5 elements and goes to rank i modulo the number of ranks.
TEST(Pages, redistribute_packed) {
    std::uint64_t const n = 100;
    auto const rank = static_cast<std::uint64_t>(world_rank());
    auto const ranks = static_cast<std::uint64_t>(world_size());
    auto const read_lists = [&](std::vector<double>& all, std::vector<std::uint64_t>& of_each, std::vector<int>& to) {
        for (std::uint64_t block = rank * n; block < (rank + 1) * n; ++block) {
            of_each.push_back(block % 5);
            to.push_back(static_cast<int>(block % ranks));
            all.insert(all.end(), block % 5, static_cast<double>(block));
        }
    };
    sluice::Context context(MPI_COMM_WORLD);
    //= paragraphs 2
    //= paragraphs 3
    std::vector<double> must;
    std::vector<std::uint64_t> must_sizes;
    for (std::uint64_t block = rank; block < ranks * n; block += ranks) {
        must_sizes.push_back(block % 5);
        must.insert(must.end(), block % 5, static_cast<double>(block));
    }
    EXPECT_EQ(values, must);
    EXPECT_EQ(sizes, must_sizes);
}
