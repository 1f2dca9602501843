// SPDX-License-Identifier: BSD-3-Clause
//= block docs/exchange.md: sluice::ExchangePlan plan(context, parts);

std::map<int, std::vector<std::byte>> planned_parts;
int planned_takes = 0;

void use(int from, std::span<std::byte const> bytes) {
    planned_parts[from].assign(bytes.begin(), bytes.end());
    ++planned_takes;
}

TEST(Pages, exchange_plan) {
    sluice::Context context(MPI_COMM_WORLD);
    std::vector<std::byte> const mine(3000, static_cast<std::byte>(world_rank()));
    std::vector<sluice::OutgoingPart> parts;
    for (int to = 0; to < context.size(); ++to)
        parts.push_back({to, mine, {}, {}});
    int const steps = 3;
    //= paragraphs 1
    EXPECT_EQ(planned_takes, steps * world_size());
    for (auto const& [from, bytes] : planned_parts)
        EXPECT_EQ(bytes, std::vector<std::byte>(3000, static_cast<std::byte>(from)));
}
