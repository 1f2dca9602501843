// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/latency.hpp"

#include <chrono>
#include <cstdint>
#include <stdexcept>

namespace sluice::bench {

namespace {

constexpr double k_block_seconds = 0.005;
constexpr int k_most_messages = 1 << 20;
constexpr int k_bytes = static_cast<int>(sizeof(std::uint64_t));

class PingPong {
  public:
    explicit PingPong(int site) : site_(site) { MPI_Comm_rank(MPI_COMM_WORLD, &rank_); }

    /// Returns the seconds of a message of one way: half of a round trip.
    double block(OverlapCalls const& calls, int round_trips) {
        calls.barrier(MPI_COMM_WORLD);
        auto const begin = std::chrono::steady_clock::now();
        for (int trip = 0; trip < round_trips; ++trip) {
            std::uint64_t const sent = ++counter_;
            std::uint64_t got = 0;
            if (rank_ == 0) calls.send(&sent, k_bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
            receive_at(site_, calls, &got, k_bytes, 1 - rank_);
            if (rank_ == 1) calls.send(&sent, k_bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
            if (got != sent) throw std::runtime_error("an 8-byte message has other bytes than were sent");
        }
        std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
        return took.count() / (2.0 * round_trips);
    }

    /// Returns the number of round trips of a block, the same on both ranks.
    int round_trips(OverlapCalls const& calls) {
        for (int trips = 16;; trips *= 2) {
            double const took = block(calls, trips) * 2 * trips;
            int enough = took >= k_block_seconds || trips >= k_most_messages ? 1 : 0;
            // Rank 0 decides, because the clocks of the ranks differ.
            if (rank_ == 0)
                calls.send(&enough, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
            else
                calls.recv(&enough, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (enough != 0) return trips;
        }
    }

  private:
    int site_;
    int rank_ = 0;
    std::uint64_t counter_ = 0;
};

}  // namespace

std::vector<LatencyPair> measure_latency(OverlapCalls const& program, OverlapCalls const& straight, int site,
                                         int pairs) {
    PingPong exchange(site);
    int const trips = exchange.round_trips(straight);
    exchange.block(program, trips);
    exchange.block(straight, trips);
    std::vector<LatencyPair> measured;
    for (int pair = 0; pair < pairs; ++pair) {
        LatencyPair both;
        if (pair % 2 == 0) both.program = exchange.block(program, trips);
        both.straight = exchange.block(straight, trips);
        if (pair % 2 == 1) both.program = exchange.block(program, trips);
        measured.push_back(both);
    }
    return measured;
}

}  // namespace sluice::bench
