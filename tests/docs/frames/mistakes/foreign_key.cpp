// SPDX-License-Identifier: BSD-3-Clause
//= block docs/mistakes.md: the key of the rank that shall read
TEST(Mistakes, foreign_key) {
    //= message
    sluice::Context context(MPI_COMM_WORLD);
    sluice::Store store(context);
    std::array<std::byte, 100> const face{};
    int const reader = context.rank() + 1;
    auto const mistake = [&] {
        //= paragraphs 1
    };
    EXPECT_EQ(shown_error(message, mistake), "");
}
