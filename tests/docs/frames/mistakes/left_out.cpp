// SPDX-License-Identifier: BSD-3-Clause
//= block docs/mistakes.md: only rank 0 calls
SLUICE_NEEDS_RANKS(2, Mistakes, left_out);
TEST(Mistakes, left_out) {
    //= message
    sluice::Settings settings = sluice::Settings::from_environment();
    settings.waiting_told_after = 1;
    sluice::Context context(MPI_COMM_WORLD, settings);
    std::vector<double> numbers(100, 1);
    std::vector<sluice::Destination> to(numbers.size(), sluice::free_block);
    LinesOfRanks const lines;
    //= paragraphs 1
    while (context.rank() != 0 && !lines.are_there(0, 1))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (context.rank() != 0) sluice::redistribute(context, sluice::blocks_of(numbers), to);
    EXPECT_EQ(is_as_shown(lines.mine(), message), context.rank() == 0) << lines.mine();
}
