// SPDX-License-Identifier: BSD-3-Clause
//= block docs/mistakes.md: rank next publishes id 7
sluice::Task fetch_wrong_key(sluice::Store& store, int next, std::span<std::byte const> face) {
    //= paragraphs 1
}

/// Publishes the key after all when each rank has said that it waits.
sluice::Task publish_late(sluice::Store& store, sluice::Key key, std::span<std::byte const> face,
                          LinesOfRanks const& lines) {
    while (!lines.are_there(0, world_size()))
        co_await sluice::after(std::chrono::milliseconds(10));
    store.publish(key, face);
}

SLUICE_NEEDS_RANKS(2, Mistakes, wrong_key);
TEST(Mistakes, wrong_key) {
    //= message
    sluice::Settings settings = sluice::Settings::from_environment();
    settings.waiting_told_after = 1;
    sluice::Context context(MPI_COMM_WORLD, settings);
    sluice::Store store(context);
    std::array<std::byte, 100> const face{};
    LinesOfRanks const lines;
    sluice::Tasks tasks(context);
    tasks.spawn(fetch_wrong_key(store, (context.rank() + 1) % context.size(), face));
    tasks.spawn(publish_late(store, {context.rank(), 8, 0}, face, lines));
    tasks.run();
    store.finish();
    EXPECT_TRUE(is_as_shown(lines.mine(), message)) << lines.mine();
}
