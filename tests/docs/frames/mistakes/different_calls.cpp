// SPDX-License-Identifier: BSD-3-Clause
//= block docs/mistakes.md: sluice::Plan const plan(context, numbers.size(), to);
SLUICE_NEEDS_RANKS(2, Mistakes, different_calls);
TEST(Mistakes, different_calls) {
    //= message
    sluice::Context context(MPI_COMM_WORLD);
    std::vector<double> numbers(100, 1);
    std::vector<sluice::Destination> to(numbers.size(), sluice::free_block);
    auto const mistake = [&] {
        //= paragraphs 1
    };
    EXPECT_EQ(shown_error(message, mistake), "");
}
