// SPDX-License-Identifier: BSD-3-Clause
//= block docs/mistakes.md: while the first thread is in tasks.run()
/// Runs in the first thread, inside tasks.run().
sluice::Task during_run(std::function<void()> action) {
    action();
    co_return;
}

TEST(Mistakes, two_threads) {
    //= message
    sluice::Context context(MPI_COMM_WORLD);
    struct {
        sluice::Store store;
        std::string fault;
        void progress() {
            fault = shown_error(message, [this] { store.progress(); });
        }
    } store{sluice::Store(context), "not called"};
    sluice::Tasks tasks(context);
    tasks.spawn(during_run([&] {
        //= paragraphs 1
        second.join();
    }));
    tasks.run();
    EXPECT_EQ(store.fault, "");
    store.store.finish();
}
