// SPDX-License-Identifier: BSD-3-Clause
// Measures the cost of watching. The program links nothing of Sluice: `sluice bench overhead` launches it with and
// without `sluice run`.
//
//   overhead launch ROUNDS [CASE…]          each exchange as programs do it: its seconds in this launch
//   overhead memory                         MPI_Init and MPI_Finalize alone, and what the process held at most
//   overhead paired PAIRS BLOCK_MS [CASE…]  blocks of each exchange, alternately as a program calls MPI and directly in
//                                           libmpi, in a random, balanced order that all ranks share. Under the plugin
//                                           the first are watched and the second are not, in the same process, with its
//                                           helper thread running; without it both are the same, which shows how exact
//                                           the measurement is.
//
// A block lasts milliseconds, because the plugin reads memory at most every 200 microseconds and shares the reading
// among calls. Prints lines:
//   between yes|no                           whether something stands between this program and libmpi
//   launch NAME BYTES SECONDS                median of a few batches
//   pair NAME BYTES WATCHED DIRECT           seconds of a message or a step in the two blocks of a pair
//   helper NAME BYTES SECONDS OF             processor time of all ranks' helper threads during OF seconds
//   peak RANK KIB                            the peak of a rank after MPI_Finalize, by the kernel
//   calls FUNCTION WATCHED DIRECT            how often each function was called by the two ways, by all ranks
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "overhead/calls.hpp"
#include "overhead/exchanges.hpp"
#include "overhead/helper_time.hpp"
#include "support/libmpi.hpp"

using namespace sluice::bench;

namespace {

constexpr int k_batches = 9;
constexpr int k_most_rounds = 1 << 24;

struct Ranks {
    int rank = 0;
    int size = 1;
};

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Returns the seconds of one message or step. Calls by `own` keep the ranks together.
double time_block(Exchange const& exchange, Calls& calls, Calls& own, int rounds) {
    own.barrier();
    double const begin = MPI_Wtime();
    exchange.run(calls, rounds);
    own.barrier();
    return (MPI_Wtime() - begin) / rounds / exchange.parts;
}

void check(Exchange const& exchange, Ranks const& us) {
    if (exchange.right()) return;
    std::fprintf(stderr, "overhead: %s of %d bytes: rank %d received something else than was sent\n",
                 exchange.name.c_str(), exchange.bytes, us.rank);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Returns the number of rounds for which a block takes `seconds`; the same on all ranks.
int rounds_for(Exchange const& exchange, Calls& straight, Ranks const& us, double seconds) {
    for (int rounds = 1;; rounds *= 2) {
        double const mine = us.rank == 0 ? time_block(exchange, straight, straight, rounds) * rounds * exchange.parts
                                         : (time_block(exchange, straight, straight, rounds), 0.0);
        double took = 0;
        straight.allreduce(&mine, &took, 1, MPI_DOUBLE, MPI_MAX);
        if (took >= seconds / 4 || rounds >= k_most_rounds)
            return static_cast<int>(std::clamp(rounds * seconds / took, 1.0, double{k_most_rounds}));
    }
}

void measure_pairs(Exchange const& exchange, Calls& watched, Calls& straight, Ranks const& us, int pairs,
                   double seconds) {
    int const rounds = rounds_for(exchange, straight, us, seconds);
    time_block(exchange, watched, straight, rounds);
    std::minstd_rand coin(static_cast<unsigned>(exchange.bytes));  // the same on all ranks
    double const helper_before = helper_seconds();
    double const began = MPI_Wtime();
    bool watched_first = false;
    for (int pair = 0; pair < pairs; ++pair) {
        // In every two pairs each order comes once, so no way gains by being first.
        watched_first = pair % 2 == 0 ? coin() % 2 == 0 : !watched_first;
        double const first = time_block(exchange, watched_first ? watched : straight, straight, rounds);
        double const second = time_block(exchange, watched_first ? straight : watched, straight, rounds);
        if (us.rank == 0)
            std::printf("pair %s %d %.12f %.12f\n", exchange.name.c_str(), exchange.bytes,
                        watched_first ? first : second, watched_first ? second : first);
    }
    double const mine = helper_seconds() - helper_before;
    double const elapsed = MPI_Wtime() - began;
    double of_all = 0;
    straight.allreduce(&mine, &of_all, 1, MPI_DOUBLE, MPI_SUM);
    if (us.rank == 0) std::printf("helper %s %d %.9f %.9f\n", exchange.name.c_str(), exchange.bytes, of_all, elapsed);
    check(exchange, us);
}

void print_counts(Calls& watched, Calls& straight, Ranks const& us) {
    auto const by_watched = watched.counts();
    auto const by_straight = straight.counts();
    for (std::size_t i = 0; i < by_watched.size(); ++i) {
        std::uint64_t const mine[2] = {by_watched.at(i), by_straight.at(i)};
        std::uint64_t all[2] = {0, 0};
        straight.allreduce(mine, all, 2, MPI_UINT64_T, MPI_SUM);
        if (us.rank == 0)
            std::printf("calls %s %llu %llu\n", Calls::name_of(i), static_cast<unsigned long long>(all[0]),
                        static_cast<unsigned long long>(all[1]));
    }
}

void measure_launch(Exchange const& exchange, Calls& calls, Ranks const& us, int rounds) {
    std::vector<double> seconds;
    for (int batch = -1; batch < k_batches; ++batch) {
        double const took = time_block(exchange, calls, calls, rounds);
        if (batch >= 0) seconds.push_back(took);
    }
    if (us.rank == 0)
        std::printf("launch %s %d %.12f\n", exchange.name.c_str(), exchange.bytes, median(std::move(seconds)));
    check(exchange, us);
}

/// Scales `rounds`, which is for 16 KiB: small messages get more rounds; large messages, and exchanges with a sweep,
/// fewer.
int scaled(int rounds, ExchangeKind const& kind) {
    double const by_size = kind.bytes < 16384 ? 10.0 : 16384.0 / kind.bytes;
    bool const sweeps = std::string_view(kind.name) == "stencil";
    return std::max(static_cast<int>(rounds * by_size * (sweeps ? 0.1 : 1.0)), 1);
}

int run(int argc, char** argv, Ranks const& us) {
    std::string_view const how = argc > 1 ? argv[1] : "";
    int const cases_from = how == "paired" ? 4 : 3;
    if ((how != "paired" && how != "launch") || argc < cases_from || us.size < 2) {
        if (us.rank == 0)
            std::fprintf(stderr,
                         "usage, with 2 ranks or more: overhead launch ROUNDS [CASE…] | "
                         "overhead paired PAIRS BLOCK_MS [CASE…]\n");
        return 2;
    }
    int const number = std::max(std::atoi(argv[2]), 1);
    auto const chosen = [&](ExchangeKind const& kind) {
        return argc == cases_from || std::any_of(argv + cases_from, argv + argc,
                                                 [&kind](std::string_view name) { return name == kind.name; });
    };
    Calls as_program = Calls::of_the_program();
    Calls straight = Calls::straight();
    if (us.rank == 0) std::printf("between %s\n", something_stands_between() ? "yes" : "no");
    for (ExchangeKind const& kind : exchange_kinds()) {
        if (!chosen(kind)) continue;
        Exchange const exchange = kind.make(us.rank, us.size, kind.bytes);
        if (how == "paired")
            measure_pairs(exchange, as_program, straight, us, number, std::atof(argv[3]) / 1000);
        else
            measure_launch(exchange, as_program, us, scaled(number, kind));
        std::fflush(stdout);
    }
    print_counts(as_program, straight, us);
    return 0;
}

}  // namespace

/// Prints what the kernel says that this process has held at most.
void print_peak(int rank) {
    std::FILE* const file = std::fopen("/proc/self/status", "r");
    if (file == nullptr) return;
    char line[512];
    while (std::fgets(line, sizeof line, file) != nullptr)
        if (std::string_view(line).starts_with("VmHWM:")) std::printf("peak %d %ld\n", rank, std::atol(line + 6));
    std::fclose(file);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    Ranks us;
    MPI_Comm_rank(MPI_COMM_WORLD, &us.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &us.size);
    if (argc > 1 && std::string_view(argv[1]) == "memory") {
        MPI_Finalize();
        print_peak(us.rank);
        return 0;
    }
    int code = 1;
    try {
        code = run(argc, argv, us);
    } catch (std::exception const& error) {
        std::fprintf(stderr, "%s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return code;
}
