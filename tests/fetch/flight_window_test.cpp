// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/reader/flight_window.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

namespace sluice::fetch {
namespace {

/// A channel that carries `rate` bytes in a second, each after `delay` seconds; the test sends messages of `bytes` as
/// long as the window has room.
struct Way {
    double rate;
    double delay;
    std::uint64_t bytes;
    double now = 0;
    double free_at = 0;
    struct Message {
        FlightWindow::Departure departure;
        double arrival;
    };
    std::deque<Message> under_way{};

    /// Runs until `messages` have arrived; returns the bytes in a second that arrived.
    double run(FlightWindow& window, int messages) {
        double const start = now;
        for (int i = 0; i < messages; ++i) {
            while (window.has_room(bytes, FlightWindow::Data::exist)) {
                free_at = std::max(free_at, now) + static_cast<double>(bytes) / rate;
                under_way.push_back({window.depart(bytes, now, FlightWindow::Data::exist), free_at + delay});
            }
            now = under_way.front().arrival;
            window.arrive(under_way.front().departure, bytes, now);
            under_way.pop_front();
        }
        return static_cast<double>(messages) * static_cast<double>(bytes) / (now - start);
    }
};

TEST(FlightWindow, grows_until_the_way_is_full_and_no_further) {
    for (double const rate : {1.25e8, 1.25e10})
        for (double const delay : {5e-6, 5e-5, 1e-3}) {
            FlightWindow window(FlightWindow::Kind::measured, FlightWindow::k_at_first);
            Way way{rate, delay, 16000};
            way.run(window, 4000);
            double const reached = way.run(window, 4000);
            EXPECT_GT(reached, 0.95 * rate) << rate << " bytes a second, delay " << delay;
            double const product = rate * (delay + 16000 / rate);
            EXPECT_LE(static_cast<double>(window.size().count),
                      std::max(static_cast<double>(FlightWindow::k_at_first.count), 2.2 * product))
                << rate << " bytes a second, delay " << delay;
        }
}

TEST(FlightWindow, follows_a_way_that_becomes_slower) {
    FlightWindow window(FlightWindow::Kind::measured, FlightWindow::k_at_first);
    Way way{1.25e10, 1e-4, 16000};
    way.run(window, 4000);
    auto const before = window.size();
    way.rate = 1.25e8;
    way.run(window, 8000);
    EXPECT_LT(window.size().count * 10, before.count);
    EXPECT_GT(way.run(window, 1000), 0.95 * way.rate);
}

TEST(FlightWindow, is_as_large_as_it_was_set) {
    FlightWindow window(FlightWindow::Kind::fixed, Bytes{100});
    auto const first =
        window.depart(1000, 0, FlightWindow::Data::exist);  // always granted, because nothing is in flight
    EXPECT_FALSE(window.has_room(1, FlightWindow::Data::exist));
    EXPECT_TRUE(window.has_room(1000, FlightWindow::Data::to_be_made));  // these are counted apart
    window.arrive(first, 1000, 1);
    EXPECT_EQ(window.size(), Bytes{100});
    auto const second = window.depart(60, 1, FlightWindow::Data::exist);
    EXPECT_TRUE(window.has_room(40, FlightWindow::Data::exist));
    EXPECT_FALSE(window.has_room(41, FlightWindow::Data::exist));
    window.lose(second, 60);
    EXPECT_TRUE(window.has_room(1000, FlightWindow::Data::exist));
}

TEST(FlightWindow, owners_have_ways_of_their_own_in_constant_memory) {
    FlightWindows measured(Bytes{0});
    measured.to(3).depart(1000, 0, FlightWindow::Data::exist);
    EXPECT_NE(&measured.to(3), &measured.to(4));
    EXPECT_EQ(&measured.to(3), &measured.to(1'000'003 - 1'000'003 % 16 + 3));
    FlightWindows fixed(Bytes{1000});
    EXPECT_EQ(&fixed.to(3), &fixed.to(4));
}

}  // namespace
}  // namespace sluice::fetch
