// SPDX-License-Identifier: BSD-3-Clause
//= block docs/redistribute.md: sluice::redistribute(context, particles, ranks);
//= paragraphs 1

/// Particle i of the whole array goes to rank i modulo the number of ranks, and each eleventh is dropped.
TEST(Pages, redistribute_by_rank) {
    struct Particle {
        std::uint64_t id;
        double place[3];
    };
    std::uint64_t const n = 200;
    auto const rank = static_cast<std::uint64_t>(world_rank());
    auto const size = static_cast<std::uint64_t>(world_size());
    auto const owner_of = [&](Particle const& particle) {
        return particle.id % 11 == 0 ? -1 : static_cast<int>(particle.id % size);
    };
    std::vector<Particle> particles(n);
    for (std::uint64_t i = 0; i < n; ++i)
        particles[i] = {rank * n + i, {1.5, 2.5, static_cast<double>(rank * n + i)}};
    //= paragraphs 2
    //= paragraphs 3
    std::uint64_t expected = 0;
    for (std::uint64_t id = 0; id < size * n; ++id)
        if (id % 11 != 0 && id % size == rank) ++expected;
    EXPECT_EQ(particles.size(), expected);
    for (Particle const& particle : particles) {
        EXPECT_EQ(particle.id % size, rank);
        EXPECT_EQ(particle.place[2], static_cast<double>(particle.id));
    }
}
