// SPDX-License-Identifier: BSD-3-Clause
//= block docs/mistakes.md: store.finish();
TEST(Mistakes, finished) {
    //= message
    sluice::Context context(MPI_COMM_WORLD);
    sluice::Store store(context);
    std::array<std::byte, 100> const face{};
    auto const mistake = [&] {
        //= paragraphs 1
    };
    EXPECT_EQ(shown_error(message, mistake), "");
}
