// SPDX-License-Identifier: BSD-3-Clause
//= block docs/allocate.md: auto particles = sluice::allocate<Particle>(context, count);
//= paragraphs 1

/// Particle i of the whole array goes to rank i modulo the number of ranks.
TEST(Pages, allocate) {
    struct Particle {
        std::uint64_t id;
        double place[3];
    };
    std::uint64_t const count = 200;
    auto const rank = static_cast<std::uint64_t>(world_rank());
    auto const size = static_cast<std::uint64_t>(world_size());
    auto const owners_of = [&](std::span<Particle> of) {
        std::vector<int> owners;
        for (std::uint64_t i = 0; i < of.size(); ++i) {
            of[i] = {rank * count + i, {0.5, 1.5, static_cast<double>(rank * count + i)}};
            owners.push_back(static_cast<int>(of[i].id % size));
        }
        return owners;
    };
    //= paragraphs 2
    //= paragraphs 3
    EXPECT_GE(particles.size(), size * count / size - 1);
    for (Particle const& particle : particles) {
        EXPECT_EQ(particle.id % size, rank);
        EXPECT_EQ(particle.place[2], static_cast<double>(particle.id));
    }
}
