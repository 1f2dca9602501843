// SPDX-License-Identifier: BSD-3-Clause
// Each rank sends its numbers to the next rank, in reverse order and in place, and checks that they arrived.
#include <cstdio>
#include <sluice/redistribute.hpp>
#include <vector>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    long wrong = 0;
    {
        sluice::Context context(MPI_COMM_WORLD);
        int const next = (context.rank() + 1) % context.size();
        int const last = (context.rank() + context.size() - 1) % context.size();
        long const count = 100'000;
        std::vector<double> numbers;
        std::vector<sluice::Destination> destinations;
        for (long i = 0; i < count; ++i) {
            numbers.push_back(context.rank() + static_cast<double>(i) / count);
            destinations.push_back({next, count - 1 - i});
        }
        sluice::RedistributionReport const report =
            redistribute(context, sluice::blocks_of(std::span(numbers)), destinations);
        for (std::size_t i = 0; i < numbers.size(); ++i)
            wrong += numbers[numbers.size() - 1 - i] != last + static_cast<double>(i) / count;
        if (context.rank() == 0) std::printf("%swrong on rank 0: %ld\n", report.text().c_str(), wrong);
    }
    MPI_Finalize();
    return wrong != 0;
}
