// SPDX-License-Identifier: BSD-3-Clause
//= block docs/mistakes.md: one too far
TEST(Mistakes, index) {
    //= message
    sluice::Context context(MPI_COMM_WORLD);
    std::vector<double> numbers(100, 1);
    int const next = (context.rank() + 1) % context.size();
    std::vector<sluice::Destination> to(numbers.size());
    auto const mistake = [&] {
        //= paragraphs 1
    };
    EXPECT_EQ(shown_error(message, mistake), "");
}
