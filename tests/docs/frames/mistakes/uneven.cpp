// SPDX-License-Identifier: BSD-3-Clause
//= block docs/mistakes.md: alltoall_in_place(context, blocks)
SLUICE_NEEDS_RANKS(2, Mistakes, uneven);
TEST(Mistakes, uneven) {
    //= message
    sluice::Context context(MPI_COMM_WORLD);
    auto const mistake = [&] {
        //= paragraphs 1
    };
    EXPECT_EQ(shown_error(message, mistake), "");
}
