// SPDX-License-Identifier: BSD-3-Clause
//= block docs/collectives.md: sluice::alltoall_in_place(context, numbers);
//= paragraphs 1

/// Number i of the block of rank `from` for rank `to`.
double number(int from, int to, int i) {
    return from * 1'000'000. + to * 10'000. + i;
}

std::vector<double> blocks(int ranks, int count, auto&& ends) {
    std::vector<double> all;
    for (int peer = 0; peer < ranks; ++peer)
        for (int i = 0; i < count; ++i)
            all.push_back(std::apply(number, std::tuple_cat(ends(peer), std::tuple(i))));
    return all;
}

TEST(Pages, all_to_all_in_place) {
    int const rank = world_rank();
    int const ranks = world_size();
    int const count = 3000;
    std::vector<double> numbers = blocks(ranks, count, [&](int peer) { return std::tuple(rank, peer); });
    std::vector<double> const expected = blocks(ranks, count, [&](int peer) { return std::tuple(peer, rank); });
    std::vector<double> memory = numbers;
    double* const buffer = memory.data();
    //= paragraphs 2
    EXPECT_EQ(memory, expected);
    EXPECT_EQ(numbers, expected);
}
