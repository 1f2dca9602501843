// SPDX-License-Identifier: BSD-3-Clause
/// Decides how many bytes are worth requesting at once: twice what the path carries while one fetch is under way (the
/// bandwidth-delay product). More would only wait somewhere and hold memory; less would leave the path idle.
///
///     asked ──────── round trip ────────> here        delivered in that time / round trip = a sample of the rate
///     |####|####|####|....|....|                      the greatest of the last samples x the shortest of the last
///      in flight       window                         round trips x 2
///
/// Both are measured as in congestion control by model (N. Cardwell and others, "BBR: Congestion-Based Congestion
/// Control", 2016): if the window itself limits the rate, twice the product lets it grow. The surplus half makes round
/// trips longer, so now and then the window shrinks to a quarter for a moment to measure the true ones.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "sluice/units.hpp"

namespace sluice::fetch {

class FlightWindow {
  public:
    static constexpr Bytes k_at_first{256 * 1024};
    static constexpr Bytes k_least{64 * 1024};

    enum class Kind { measured, fixed };
    FlightWindow(Kind kind, Bytes size) : kind_(kind), size_(size) {}

    /// Fetches of existing data take only as long as the path and are counted separately, so that they never wait for
    /// fetches whose data may still have to be made.
    enum class Data { to_be_made, exist };
    /// One fetch under way.
    struct Departure {
        double time = 0;
        std::uint64_t delivered = 0;  // bytes delivered before it left
        Data data = Data::to_be_made;
        bool shows_way = false;  // no surplus bytes are in flight before it
    };

    /// Whether `bytes` more may leave; always true if nothing of its kind is in flight.
    bool has_room(std::uint64_t bytes, Data data) const noexcept {
        std::uint64_t const in_flight = in_flight_[static_cast<std::size_t>(data)];
        return in_flight == 0 || in_flight + bytes <= (drains_ ? drained_size() : size_).count;
    }
    Departure depart(std::uint64_t bytes, double now, Data data) noexcept;
    void arrive(Departure const& departure, std::uint64_t bytes, double now) noexcept;
    /// The fetch failed; its data will not come.
    void lose(Departure const& departure, std::uint64_t bytes) noexcept;

    Bytes size() const noexcept { return size_; }

  private:
    Bytes drained_size() const noexcept { return std::max(size_ / 4, k_least); }
    void sample(double round_trip, double rate, double now) noexcept;
    void begin_period(double now) noexcept;

    // Samples of two periods count, so that an outdated value is forgotten after at most two periods.
    static constexpr std::uint32_t k_least_samples = 256;
    static constexpr double k_least_round_trips = 64;
    struct Period {
        double begin = 0;
        double rate = 0;
        double round_trip = 0;
        std::uint32_t samples = 0;
    };

    Kind kind_;
    Bytes size_;
    std::array<std::uint64_t, 2> in_flight_{};  // indexed by Data
    std::uint64_t delivered_ = 0;
    Period now_;
    Period before_;
    bool drains_ = false;
};

/// One window for each kind of path (inside the node, between nodes, to a busy owner). Owners share a window by their
/// rank modulo k_ways, so that memory does not grow with the number of ranks.
class FlightWindows {
  public:
    explicit FlightWindows(Bytes fixed)
        : windows_(filled(fixed.count != 0 ? FlightWindow(FlightWindow::Kind::fixed, fixed)
                                           : FlightWindow(FlightWindow::Kind::measured, FlightWindow::k_at_first))),
          is_one_(fixed.count != 0) {}
    FlightWindow& to(int owner) noexcept { return windows_[is_one_ ? 0 : static_cast<std::size_t>(owner) % k_ways]; }

  private:
    static constexpr std::size_t k_ways = 16;
    static std::array<FlightWindow, k_ways> filled(FlightWindow const& window) {
        return [&]<std::size_t... i>(std::index_sequence<i...>) {
            return std::array<FlightWindow, k_ways>{((void)i, window)...};
        }
        (std::make_index_sequence<k_ways>());
    }

    std::array<FlightWindow, k_ways> windows_;
    bool is_one_;  // a window size that is set holds for all owners together
};

}  // namespace sluice::fetch
