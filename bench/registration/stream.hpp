// SPDX-License-Identifier: BSD-3-Clause
/// What one rank does with its communication buffers, as a list of steps, and the means to write such lists as programs
/// are written. Times are those without any registration.
///
///     compute ── post(message 0) ── post(message 1) ── busy ── complete(0) ── complete(1) ── compute …
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "memory/registration/event.hpp"

namespace sluice::bench {

using memory::registration::Kind;
using memory::registration::Range;
using memory::registration::Time;

struct Message {
    int site = 0;  ///< the call site: its one frame
    Kind kind = Kind::send;
    Range range;
};

struct Step {
    enum class What : std::uint8_t { busy, post, complete };
    What what = What::busy;
    Time time{};                ///< of busy
    std::uint32_t message = 0;  ///< of post and complete
};

struct Stream {
    std::vector<Message> messages;
    std::vector<Step> steps;
};

/// How regular the phases of computation are.
struct Noise {
    double width = 0;        ///< each phase takes a time within ± this part of its mean, uniformly distributed
    double growth = 0;       ///< each step of the program takes so much longer than the one before
    bool is_random = false;  ///< exponentially distributed around the mean instead
};

class Author {
  public:
    explicit Author(Noise noise = {}, std::uint64_t seed = 1) : noise_(noise), random_(seed) {}

    /// Buffers of their own pages.
    Range allocate(std::uint64_t bytes);
    static Range part(Range buffer, std::uint64_t offset, std::uint64_t bytes) {
        return {buffer.begin + offset, bytes};
    }

    void compute(double seconds);
    /// Work whose time does not vary, such as packing of so many bytes.
    void pack(std::uint64_t bytes);
    void next_step() { grown_ *= 1 + noise_.growth; }

    void send(int site, Range range) { exchange({{site, Kind::send, range}}); }
    void receive(int site, Range range) { exchange({{site, Kind::receive, range}}); }
    /// All begin together, and end when the wire has carried all. What is below the threshold of 16 KiB only takes
    /// time.
    void exchange(std::vector<Message> const& messages);
    /// Begin, compute, end: messages that are hidden behind work.
    void exchange_behind(std::vector<Message> const& messages, double seconds);

    Stream take() { return std::move(stream_); }

  private:
    void busy(double seconds);
    std::vector<std::uint32_t> post(std::vector<Message> const& messages);
    void complete(std::vector<std::uint32_t> const& posted);

    Noise noise_;
    std::mt19937_64 random_;
    double grown_ = 1;
    std::uintptr_t next_ = std::uintptr_t{1} << 32;
    Stream stream_;
};

/// Seconds that the wire needs.
double wire_seconds(std::uint64_t bytes);

}  // namespace sluice::bench
