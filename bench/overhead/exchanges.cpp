// SPDX-License-Identifier: BSD-3-Clause
#include "overhead/exchanges.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace sluice::bench {

namespace {

Exchange ping_pong(int rank, int, int bytes) {
    // Rank 1 sends back the bytes that it received.
    auto const buffer = std::make_shared<std::vector<char>>(static_cast<std::size_t>(bytes), rank == 0 ? 'x' : '-');
    Exchange exchange{"pingpong", bytes, 2, {}, {}};
    exchange.run = [rank, bytes, buffer](Calls& calls, int rounds) {
        char* const data = buffer->data();
        for (int i = 0; rank < 2 && i < rounds; ++i) {
            if (rank == 0) calls.send(data, bytes, 1);
            calls.recv(data, bytes, 1 - rank);
            if (rank == 1) calls.send(data, bytes, 0);
        }
    };
    exchange.right = [rank, buffer] {
        return rank > 1 || std::all_of(buffer->begin(), buffer->end(), [](char c) { return c == 'x'; });
    };
    return exchange;
}

constexpr std::size_t k_rows = 64;

/// A strip of a plane, with one more row on each side for the neighbours' values.
struct Strip {
    Strip(int rank, int ranks, int row_bytes)
        : bytes(row_bytes),
          width(static_cast<std::size_t>(row_bytes) / sizeof(double)),
          up(rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL),
          down(rank > 0 ? rank - 1 : MPI_PROC_NULL),
          now((k_rows + 2) * width, rank + 1.0),
          next(now) {}

    void exchange(Calls& calls) {
        MPI_Request open[4];
        calls.irecv(&now[0], bytes, down, 1, &open[0]);
        calls.irecv(&now[(k_rows + 1) * width], bytes, up, 2, &open[1]);
        calls.isend(&now[width], bytes, down, 2, &open[2]);
        calls.isend(&now[k_rows * width], bytes, up, 1, &open[3]);
        calls.waitall(4, open);
    }

    /// Fills all rows except those that the neighbours fill.
    void fill_with_ones() {
        std::fill(now.begin(), now.end(), 1.0);
        if (down != MPI_PROC_NULL) std::fill_n(now.begin(), width, 0.0);
        if (up != MPI_PROC_NULL) std::fill_n(now.rbegin(), width, 0.0);
        next = now;
    }

    void sweep() {
        for (std::size_t row = 1; row <= k_rows; ++row)
            for (std::size_t i = 1; i + 1 < width; ++i) {
                std::size_t const at = row * width + i;
                next[at] = 0.2 * (now[at] + now[at - 1] + now[at + 1] + now[at - width] + now[at + width]);
            }
        std::swap(now, next);
    }

    int bytes;
    std::size_t width;
    int up;
    int down;
    std::vector<double> now;
    std::vector<double> next;
};

Exchange halo(int rank, int ranks, int bytes) {
    auto const strip = std::make_shared<Strip>(rank, ranks, bytes);
    Exchange exchange{"halo", bytes, 1, {}, {}};
    exchange.run = [strip](Calls& calls, int rounds) {
        for (int i = 0; i < rounds; ++i)
            strip->exchange(calls);
    };
    exchange.right = [strip, rank] {
        auto const holds = [&strip](std::size_t row, int of) {
            auto const begin = strip->now.begin() + static_cast<std::ptrdiff_t>(row * strip->width);
            return of == MPI_PROC_NULL || std::all_of(begin, begin + static_cast<std::ptrdiff_t>(strip->width),
                                                      [of](double value) { return value == of + 1.0; });
        };
        return holds(0, strip->down) && holds(k_rows + 1, strip->up) && holds(1, rank);
    };
    return exchange;
}

Exchange stencil(int rank, int ranks, int bytes) {
    auto const strip = std::make_shared<Strip>(rank, ranks, bytes);
    strip->fill_with_ones();
    Exchange exchange{"stencil", bytes, 1, {}, {}};
    exchange.run = [strip](Calls& calls, int rounds) {
        for (int i = 0; i < rounds; ++i) {
            strip->exchange(calls);
            strip->sweep();
        }
    };
    // An average of ones is one. A row that was not received would have been zero.
    exchange.right = [strip] {
        auto const row = static_cast<std::ptrdiff_t>(strip->width);
        return std::all_of(strip->now.begin() + row, strip->now.end() - row,
                           [](double value) { return value > 1 - 1e-9 && value < 1 + 1e-9; });
    };
    return exchange;
}

Exchange allreduce(int, int ranks, int bytes) {
    int const count = bytes / static_cast<int>(sizeof(double));
    auto const from = std::make_shared<std::vector<double>>(static_cast<std::size_t>(count), 1.0);
    auto const to = std::make_shared<std::vector<double>>(static_cast<std::size_t>(count), 0.0);
    Exchange exchange{"allreduce", bytes, 1, {}, {}};
    exchange.run = [from, to, count](Calls& calls, int rounds) {
        for (int i = 0; i < rounds; ++i)
            calls.allreduce(from->data(), to->data(), count, MPI_DOUBLE, MPI_SUM);
    };
    exchange.right = [to, ranks] {
        return std::all_of(to->begin(), to->end(), [ranks](double value) { return value == ranks; });
    };
    return exchange;
}

}  // namespace

std::vector<ExchangeKind> const& exchange_kinds() {
    static std::vector<ExchangeKind> const kinds{
        {"pingpong", 8, ping_pong},       {"pingpong", 16384, ping_pong},  {"pingpong", 65536, ping_pong},
        {"pingpong", 1048576, ping_pong}, {"halo", 16384, halo},           {"halo", 65536, halo},
        {"halo", 1048576, halo},          {"stencil", 16384, stencil},     {"stencil", 65536, stencil},
        {"allreduce", 16384, allreduce},  {"allreduce", 262144, allreduce}};
    return kinds;
}

}  // namespace sluice::bench
