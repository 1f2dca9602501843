// SPDX-License-Identifier: BSD-3-Clause
//= block docs/mistakes.md: too_long(numbers
TEST(Mistakes, too_long) {
    //= message
    sluice::Context context(MPI_COMM_WORLD);
    std::vector<double> numbers(100, 1);
    auto const mistake = [&] {
        //= paragraphs 1
    };
    EXPECT_EQ(shown_error(message, mistake), "");
}
