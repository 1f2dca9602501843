// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/moving/exchange.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "sluice/context.hpp"

namespace sluice::redistribution {
namespace {

/// Rank s sends (s + 2 t) % 4 units of `unit` bytes to rank t; all bytes of a unit name it.
void check_exchange(std::uint64_t unit, std::uint64_t most_bytes, std::uint64_t outstanding) {
    Settings settings;
    settings.outstanding_requests = outstanding;
    Context context(MPI_COMM_WORLD, settings);
    memory::Meter meter;
    Exchange exchange(engine::ContextState::of(context), meter);
    auto const units = [](std::uint64_t from, std::uint64_t to) { return (from + 2 * to) % 4; };
    auto const mark = [](std::uint64_t from, std::uint64_t to) { return static_cast<std::byte>(16 * from + to); };
    auto const me = static_cast<std::uint64_t>(context.rank());

    std::vector<std::uint64_t> to_send, to_receive;
    std::vector<std::byte> send, expected;
    for (std::uint64_t other = 0; other < static_cast<std::uint64_t>(context.size()); ++other) {
        to_send.push_back(units(me, other));
        to_receive.push_back(units(other, me));
        send.insert(send.end(), to_send.back() * unit, mark(me, other));
        expected.insert(expected.end(), to_receive.back() * unit, mark(other, me));
    }
    std::vector<std::byte> received(expected.size());
    exchange.run(unit, send.data(), to_send, received.data(), to_receive, most_bytes);
    EXPECT_EQ(received, expected);
    EXPECT_LE(exchange.requests_peak(), outstanding);
}

TEST(Exchange, is_one_alltoallv_where_everything_fits) {
    check_exchange(1000, Exchange::k_most_bytes, 64);
}

TEST(Exchange, cuts_what_is_too_large_for_one_message) {
    check_exchange(1000, 300, 64);
}

TEST(Exchange, cuts_at_any_byte_and_keeps_few_requests_open) {
    check_exchange(1001, 97, 4);
}

}  // namespace
}  // namespace sluice::redistribution
