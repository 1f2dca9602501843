// SPDX-License-Identifier: BSD-3-Clause
//= block docs/mistakes.md: and never comes here
//= paragraphs 1

TEST(Mistakes, own_key) {
    //= message
    sluice::Context context(MPI_COMM_WORLD);
    sluice::Store store(context);
    std::array<std::byte, 100> const face{};
    auto const mistake = [&] {
        sluice::Tasks tasks(context);
        tasks.spawn(step(store, {context.rank(), 7, 0}, face));
        tasks.run();
    };
    EXPECT_EQ(shown_error(message, mistake), "");
    store.finish();
}
