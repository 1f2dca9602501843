// SPDX-License-Identifier: BSD-3-Clause
//= block docs/transpose.md: unpack(from, part.as<std::complex<double>>(0));

/// Planes x of [x][y][z] become lines y of [y][x][z].
constexpr int k_nx = 12;
constexpr int k_ny = 20;
constexpr int k_nz = 3;
std::vector<std::complex<double>> planes;
std::vector<std::complex<double>> lines;

int first(int n, int rank) {
    return n * rank / world_size();
}
std::size_t at(int outer, int middle, int inner, int middles) {
    return static_cast<std::size_t>((outer * middles + middle) * k_nz + inner);
}

sluice::Bytes bytes_for(int to) {
    int const x = first(k_nx, world_rank() + 1) - first(k_nx, world_rank());
    int const y = first(k_ny, to + 1) - first(k_ny, to);
    return {static_cast<std::uint64_t>(x * y * k_nz) * sizeof(std::complex<double>)};
}

void pack(int to, std::span<std::byte> out) {
    auto* next = reinterpret_cast<std::complex<double>*>(out.data());
    int const begin = first(k_nx, world_rank());
    for (int x = begin; x < first(k_nx, world_rank() + 1); ++x)
        for (int y = first(k_ny, to); y < first(k_ny, to + 1); ++y)
            for (int z = 0; z < k_nz; ++z)
                *next++ = planes[at(x - begin, y, z, k_ny)];
}

void unpack(int from, std::span<std::complex<double> const> part) {
    auto next = part.begin();
    int const begin = first(k_ny, world_rank());
    for (int x = first(k_nx, from); x < first(k_nx, from + 1); ++x)
        for (int y = begin; y < first(k_ny, world_rank() + 1); ++y)
            for (int z = 0; z < k_nz; ++z)
                lines[at(y - begin, x, z, k_nx)] = *next++;
}

std::complex<double> element(int x, int y, int z) {
    return {static_cast<double>(100 * x + y), static_cast<double>(z)};
}

TEST(Pages, streamed_transpose) {
    sluice::Context context(MPI_COMM_WORLD);
    int const rank = context.rank();
    for (int x = first(k_nx, rank); x < first(k_nx, rank + 1); ++x)
        for (int y = 0; y < k_ny; ++y)
            for (int z = 0; z < k_nz; ++z)
                planes.push_back(element(x, y, z));
    lines.resize(static_cast<std::size_t>((first(k_ny, rank + 1) - first(k_ny, rank)) * k_nx * k_nz));
    //= paragraphs 1 2
    for (int y = first(k_ny, rank); y < first(k_ny, rank + 1); ++y)
        for (int x = 0; x < k_nx; ++x)
            for (int z = 0; z < k_nz; ++z)
                EXPECT_EQ(lines[at(y - first(k_ny, rank), x, z, k_nx)], element(x, y, z)) << x << " " << y << " " << z;
}
