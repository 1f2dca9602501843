// SPDX-License-Identifier: BSD-3-Clause
//= block docs/mistakes.md: device_memory;  // from cudaMalloc
TEST(Mistakes, device) {
    //= message
    sluice::Context context(MPI_COMM_WORLD);
    auto const range = load_device(SLUICE_STAND_IN_CUDA);
    ASSERT_NE(range, nullptr);
    static std::array<double, 100> memory;
    range(memory.data(), sizeof memory, false);
    double* const device_memory = memory.data();
    std::size_t const count = memory.size();
    std::vector<sluice::Destination> const to;
    auto const mistake = [&] {
        //= paragraphs 1
    };
    EXPECT_EQ(shown_error(message, mistake), "");
}
