// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/reader/flight_window.hpp"

#include <algorithm>
#include <utility>

namespace sluice::fetch {

namespace {

// With twice the product, as much again is always on its way, so no data wait for a question.
constexpr double k_gain = 2;
// The lower bound of a round trip, because a clock may stand still between two looks.
constexpr double k_shortest_round_trip = 1e-7;

double shorter(double a, double b) {
    return a == 0 ? b : b == 0 ? a : std::min(a, b);
}

}  // namespace

FlightWindow::Departure FlightWindow::depart(std::uint64_t bytes, double now, Data data) noexcept {
    std::uint64_t& in_flight = in_flight_[static_cast<std::size_t>(data)];
    in_flight += bytes;
    return {now, delivered_, data, drains_ && in_flight <= drained_size().count};
}

void FlightWindow::lose(Departure const& departure, std::uint64_t bytes) noexcept {
    in_flight_[static_cast<std::size_t>(departure.data)] -= bytes;
}

void FlightWindow::arrive(Departure const& departure, std::uint64_t bytes, double now) noexcept {
    lose(departure, bytes);
    delivered_ += bytes;
    if (kind_ == Kind::fixed || departure.data == Data::to_be_made || bytes == 0) return;
    double const round_trip = std::max(now - departure.time, k_shortest_round_trip);
    if (departure.shows_way) drains_ = false;
    sample(round_trip, static_cast<double>(delivered_ - departure.delivered) / round_trip, now);
}

void FlightWindow::begin_period(double now) noexcept {
    before_ = std::exchange(now_, Period{});
    now_.begin = now;
    drains_ = before_.samples > 0;
}

void FlightWindow::sample(double round_trip, double rate, double now) noexcept {
    double const shortest = shorter(now_.round_trip, before_.round_trip);
    if (now_.samples >= k_least_samples && now - now_.begin > k_least_round_trips * shortest) begin_period(now);
    ++now_.samples;
    now_.rate = std::max(now_.rate, rate);
    now_.round_trip = shorter(now_.round_trip, round_trip);
    double const product = std::max(now_.rate, before_.rate) * shorter(now_.round_trip, before_.round_trip);
    constexpr double k_most = 1e18;
    size_ = std::max(k_least, Bytes{static_cast<std::uint64_t>(std::min(k_gain * product, k_most))});
}

}  // namespace sluice::fetch
