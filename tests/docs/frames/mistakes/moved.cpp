// SPDX-License-Identifier: BSD-3-Clause
//= block docs/mistakes.md: kept(std::move(context))
TEST(Mistakes, moved) {
    //= message
    sluice::Context context(MPI_COMM_WORLD);
    auto const mistake = [&] {
        //= paragraphs 1
    };
    EXPECT_EQ(shown_error(message, mistake), "");
}
