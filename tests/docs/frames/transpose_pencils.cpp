// SPDX-License-Identifier: BSD-3-Clause
//= block docs/transpose.md: sluice::TransposePlan x_to_y(context, shape, x, y);

TEST(Pages, transposes_of_pencils) {
    sluice::Context context(MPI_COMM_WORLD);
    int const rows = world_size() % 2 == 0 ? 2 : 1;
    int const columns = world_size() / rows;
    sluice::ArrayShape const shape{{9, 10, 11}, {sizeof(double)}};
    std::vector<double> array(9 * 10 * 11);
    std::vector<double> other(9 * 10 * 11);
    auto const number = [](std::int64_t i, std::int64_t j, std::int64_t k) {
        return static_cast<double>((i * 10 + j) * 11 + k);
    };
    ArrayPart const had = part_of(shape.extents, pencils(0, rows, columns), world_rank());
    std::size_t at = 0;
    for (std::int64_t k = had.begin[2]; k < had.end[2]; ++k)
        for (std::int64_t j = had.begin[1]; j < had.end[1]; ++j)
            for (std::int64_t i = had.begin[0]; i < had.end[0]; ++i)
                array[at++] = number(i, j, k);
    //= paragraphs 1 2
    ArrayPart const has = part_of(shape.extents, pencils(2, rows, columns), world_rank());
    at = 0;
    for (std::int64_t i = has.begin[0]; i < has.end[0]; ++i)
        for (std::int64_t j = has.begin[1]; j < has.end[1]; ++j)
            for (std::int64_t k = has.begin[2]; k < has.end[2]; ++k)
                ASSERT_EQ(other[at++], number(i, j, k));
}
