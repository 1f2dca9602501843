// SPDX-License-Identifier: BSD-3-Clause
//= block docs/mistakes.md: the reader of face may not have it yet
void relax(std::span<std::byte> face, sluice::FetchResult const& ghosts) {
    for (std::size_t i = 0; i < face.size(); ++i)
        face[i] = ghosts[0][i] ^ std::byte{1};
}

sluice::Task relax_early(sluice::Store& store, int rank, int next, std::span<std::byte> face, int reader) {
    //= paragraphs 1
    MPI_Request told = MPI_REQUEST_NULL;
    MPI_Isend(nullptr, 0, MPI_BYTE, reader, 1, MPI_COMM_WORLD, &told);
    co_await sluice::completed(told);
}

/// Reads the face when its owner has relaxed it.
sluice::Task read_late(sluice::Store& store, sluice::Key key, std::size_t bytes) {
    MPI_Request told = MPI_REQUEST_NULL;
    MPI_Irecv(nullptr, 0, MPI_BYTE, key.owner, 1, MPI_COMM_WORLD, &told);
    co_await sluice::completed(told);
    co_await store.fetch_all(sluice::FetchRequest{key, bytes});
}

SLUICE_NEEDS_RANKS(2, Mistakes, changed);
TEST(Mistakes, changed) {
    //= message
    sluice::Settings settings = sluice::Settings::from_environment();
    settings.check = sluice::CheckedCalls::data;
    sluice::Context context(MPI_COMM_WORLD, settings);
    sluice::Store store(context);
    int const rank = context.rank();
    int const size = context.size();
    bool const is_even = rank % 2 == 0;
    std::vector<std::byte> face(100);
    if (rank + 1 == size && is_even) return store.finish();
    // Of two ranks the second reads late what the first has published and relaxed.
    int const other = is_even ? rank + 1 : rank - 1;
    std::string fault;
    if (is_even) {
        sluice::Tasks tasks(context);
        tasks.spawn(relax_early(store, rank, other, face, other));
        tasks.run();
    } else {
        store.publish({rank, 7, 0}, face);
        sluice::Tasks tasks(context);
        tasks.spawn(read_late(store, {other, 7, 0}, face.size()));
        fault = shown_error(message, [&] { tasks.run(); });
    }
    EXPECT_EQ(fault, "");
    std::string owner;
    try {
        store.finish();
    } catch (Error const& error) {
        owner = error.what();
    }
    EXPECT_EQ(owner.find("got other bytes than were published") != std::string::npos, is_even) << owner;
}
