// SPDX-License-Identifier: BSD-3-Clause
// Ranks whose arrays of sluice::allocate are mapped by each other, for segments.py: all blocks of a rank go to the next
// one, in reverse order.
//
// Prints "kernel RANK PSS SHARED" in KiB, read while all ranks have their arrays; the first without pages of files.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include "sluice/allocate.hpp"
#include "sluice/redistribute.hpp"

namespace {

constexpr std::int64_t k_blocks = 48 << 10;

struct Block {
    std::uint64_t words[128];
};

long of_kernel(char const* path, std::string const& key) {
    std::ifstream file(path);
    std::string word;
    while (file >> word)
        if (word == key) {
            long kib = -1;
            file >> kib;
            return kib;
        }
    return -1;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    {
        sluice::Context context(MPI_COMM_WORLD);
        auto array = sluice::allocate<Block>(context, k_blocks);
        int const next = (context.rank() + 1) % context.size();
        auto const to_next = [&](std::uint64_t block, std::span<std::byte const>) {
            return sluice::Destination{next, k_blocks - 1 - static_cast<std::int64_t>(block)};
        };
        std::string const why = redistribute(context, sluice::blocks_of(array), to_next).why;
        if (why.find("arrays that all ranks of the node map") == std::string::npos) {
            std::fprintf(stderr, "the arrays were not mapped: %s\n", why.c_str());
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        usleep(500000);  // for samples; what ranks share is read more seldom
        MPI_Barrier(MPI_COMM_WORLD);
        std::printf(
            "kernel %d %ld %ld\n", context.rank(),
            of_kernel("/proc/self/smaps_rollup", "Pss_Anon:") + of_kernel("/proc/self/smaps_rollup", "Pss_Shmem:"),
            of_kernel("/proc/self/status", "RssShmem:"));
        std::fflush(stdout);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
