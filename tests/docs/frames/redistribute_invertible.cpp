// SPDX-License-Identifier: BSD-3-Clause
//= block docs/redistribute.md: options.inverse = [&](std::uint64_t slot) { return source_of(slot); };

/// Block b of the whole array goes to place b + 7 of it, modulo its length.
TEST(Pages, redistribute_invertible) {
    std::uint64_t const n = 120;
    std::uint64_t const block_bytes = sizeof(std::uint64_t);
    auto const rank = static_cast<std::uint64_t>(world_rank());
    auto const total = n * static_cast<std::uint64_t>(world_size());
    sluice::Context context(MPI_COMM_WORLD);
    auto const address_of = [&](std::uint64_t place) {
        return sluice::Destination{static_cast<int>(place / n), static_cast<std::int64_t>(place % n)};
    };
    auto const source_of = [&](std::uint64_t slot) { return address_of((rank * n + slot + total - 7) % total); };
    std::vector<std::uint64_t> memory(n);
    std::vector<sluice::Destination> to(n);
    for (std::uint64_t i = 0; i < n; ++i) {
        memory[i] = rank * n + i;
        to[i] = address_of((rank * n + i + 7) % total);
    }
    std::uint64_t* const data = memory.data();
    //= paragraphs 1
    //= paragraphs 2
    for (std::uint64_t i = 0; i < n; ++i)
        EXPECT_EQ(memory[i], (rank * n + i + total - 7) % total);
}
