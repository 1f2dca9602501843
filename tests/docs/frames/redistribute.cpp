// SPDX-License-Identifier: BSD-3-Clause
//= block docs/redistribute.md: sluice::redistribute(context, {data, n, {block_bytes}}, to);
//= paragraphs 1

/// Block b of the whole array goes to place 5 b + 3 of it; the array has no common divisor with 5.
TEST(Pages, redistribute) {
    std::uint64_t const n = 301;
    std::uint64_t const block_bytes = 48;
    auto const rank = static_cast<std::uint64_t>(world_rank());
    auto const total = n * static_cast<std::uint64_t>(world_size());
    std::vector<std::uint64_t> expected(total);  // by one computation over the whole array
    for (std::uint64_t block = 0; block < total; ++block)
        expected[(5 * block + 3) % total] = block;
    std::size_t const words = block_bytes / sizeof(std::uint64_t);
    std::vector<std::uint64_t> memory(n * words);
    for (std::size_t i = 0; i < memory.size(); ++i)
        memory[i] = (rank * n + i / words) * words + i % words;
    std::uint64_t* const data = memory.data();
    //= paragraphs 2
    for (std::uint64_t i = 0; i < n; ++i) {
        std::uint64_t const place = (5 * (rank * n + i) + 3) % total;
        to[i] = {static_cast<int>(place / n), static_cast<std::int64_t>(place % n)};
    }
    //= paragraphs 3
    for (std::size_t i = 0; i < memory.size(); ++i)
        ASSERT_EQ(memory[i], expected[rank * n + i / words] * words + i % words) << "word " << i;
    EXPECT_EQ(report.blocks_sent, report.blocks_received);
}
