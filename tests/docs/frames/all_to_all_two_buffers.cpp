// SPDX-License-Identifier: BSD-3-Clause
//= block docs/collectives.md: sluice::alltoall(context, numbers, others);
//= paragraphs 1

/// Number i of the block of rank `from` for rank `to`.
double sent_number(int from, int to, int i) {
    return from * 1'000'000. + to * 10'000. + i;
}

TEST(Pages, all_to_all_from_one_buffer_into_another) {
    int const rank = world_rank();
    int const ranks = world_size();
    int const count = 3000;
    std::vector<double> numbers;
    std::vector<double> expected;
    for (int peer = 0; peer < ranks; ++peer)
        for (int i = 0; i < count; ++i) {
            numbers.push_back(sent_number(rank, peer, i));
            expected.push_back(sent_number(peer, rank, i));
        }
    std::vector<double> others(numbers.size());
    std::vector<double> received(numbers.size());
    double const* const from = numbers.data();
    double* const to = received.data();
    std::vector<std::int64_t> const send_counts(static_cast<std::size_t>(ranks), count);
    std::vector<std::int64_t> const receive_counts = send_counts;
    std::vector<std::int64_t> send_places;
    for (int peer = 0; peer < ranks; ++peer)
        send_places.push_back(std::int64_t{peer} * count);
    std::vector<std::int64_t> const receive_places = send_places;
    //= paragraphs 2
    EXPECT_EQ(others, expected);
    EXPECT_EQ(received, expected);
    received.assign(received.size(), -1);
    //= paragraphs 3
    EXPECT_EQ(received, expected);
}
