// SPDX-License-Identifier: BSD-3-Clause
// Each particle moves to the rank that owns its place, in the memory that the particles have.
#include <cstdio>
#include <random>
#include <sluice/rank_plan.hpp>
#include <vector>

struct Particle {
    double place;  // from 0 to 1, of which each rank owns an equal part
    double speed;
};

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    long wrong = 0;
    {
        sluice::Context context(MPI_COMM_WORLD);
        auto owner = [&](Particle const& particle) { return static_cast<int>(particle.place * context.size()); };

        std::mt19937 random(static_cast<unsigned>(context.rank()));
        std::uniform_real_distribution<double> anywhere;
        std::vector<Particle> particles(100'000);
        for (Particle& particle : particles)
            particle.place = anywhere(random);

        std::vector<int> ranks;
        ranks.reserve(particles.size());
        for (Particle const& particle : particles)
            ranks.push_back(owner(particle));
        sluice::RedistributionReport const report = redistribute(context, particles, ranks);

        for (Particle const& particle : particles)
            wrong += owner(particle) != context.rank();
        if (context.rank() == 0) std::printf("%swrong on rank 0: %ld\n", report.text().c_str(), wrong);
    }
    MPI_Finalize();
    return wrong != 0;
}
