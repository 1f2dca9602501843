// SPDX-License-Identifier: BSD-3-Clause
//= block docs/exchange.md: std::vector<sluice::OutgoingPart> parts;
//= paragraphs 1

/// What the parts of the ranks were, and what came.
std::map<int, std::vector<std::byte>> came;

Bytes bytes_for(int to) {
    return {static_cast<std::uint64_t>(1000 * (to + 1))};
}

void produce(int to, std::span<std::byte> out) {
    std::ranges::fill(out, static_cast<std::byte>(16 * world_rank() + to));
}

void use(int from, std::span<std::byte const> bytes) {
    came[from].assign(bytes.begin(), bytes.end());
}

TEST(Pages, streamed_exchange) {
    sluice::Context context(MPI_COMM_WORLD);
    //= paragraphs 2 3
    ASSERT_EQ(came.size(), static_cast<std::size_t>(world_size()));
    for (auto const& [from, bytes] : came)
        EXPECT_EQ(bytes, std::vector<std::byte>(1000 * static_cast<std::size_t>(world_rank() + 1),
                                                static_cast<std::byte>(16 * from + world_rank())));
    EXPECT_EQ(report.parts_received, static_cast<std::uint64_t>(world_size() - 1));
}
