// SPDX-License-Identifier: BSD-3-Clause
//= block docs/exchange.md: co_await sluice::completed(requests[from]);

std::map<int, std::vector<std::byte>> later;

void use(int from, std::span<std::byte const> bytes) {
    later[from].assign(bytes.begin(), bytes.end());
}

TEST(Pages, streamed_exchange_in_tasks) {
    sluice::Context context(MPI_COMM_WORLD);
    std::vector<std::byte> const mine(3000, static_cast<std::byte>(world_rank()));
    std::vector<sluice::OutgoingPart> parts;
    for (int to = 0; to < context.size(); ++to)
        parts.push_back({to, mine, {}, {}});
    std::map<int, MPI_Request> requests;
    std::map<int, int> numbers;
    for (int from = 0; from < context.size(); ++from) {
        MPI_Irecv(&numbers[from], 1, MPI_INT, from, 0, MPI_COMM_WORLD, &requests[from]);
        MPI_Request sent;
        int const rank = world_rank();
        MPI_Isend(&rank, 1, MPI_INT, from, 0, MPI_COMM_WORLD, &sent);
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
    }
    //= paragraphs 1
    ASSERT_EQ(later.size(), requests.size());
    for (auto const& [from, bytes] : later)
        EXPECT_EQ(bytes, std::vector<std::byte>(3000, static_cast<std::byte>(from)));
    for (int from = 0; from < context.size(); ++from)
        EXPECT_EQ(numbers[from], from);
}
