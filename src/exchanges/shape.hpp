// SPDX-License-Identifier: BSD-3-Clause
/// The parts of an exchange without their bytes: what this rank sends, and what comes.
///
///     sizes of its own parts ── announced: part i of this rank has n bytes for you ──> arrivals of the receivers
///                               sparse: ranks without parts cost nothing
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/context_state.hpp"
#include "memory/meter.hpp"
#include "sluice/budget.hpp"
#include "sluice/exchange.hpp"

namespace sluice::exchanges {

/// A part that comes.
struct Arrival {
    int from;
    std::uint64_t part;  ///< its number on the sender
    std::uint64_t bytes;
};

inline std::uint64_t size_of_part(OutgoingPart const& part) {
    return part.produce || part.data.empty() ? part.bytes.count : part.data.size();
}

/// Takes 16 bytes for each part that this rank sends, and 24 to 48 for each that comes.
class Shape {
  public:
    /// Collective. Announces the parts, which have been checked. Throws Error(out_of_memory) on every rank.
    Shape(engine::ContextState& context, std::span<OutgoingPart const> parts);
    Shape(Shape const&) = delete;
    Shape& operator=(Shape const&) = delete;

    /// Whether these parts have the receivers and sizes that were announced.
    bool fits(std::span<OutgoingPart const> parts) const noexcept;
    /// Those of the next ranks first, so that not all ranks ask the same one first.
    std::span<Arrival const> arrivals() const noexcept { return arrivals_; }

    // As a taker of announcements: SparseExchange.
    struct Announcement {
        std::uint64_t part;
        std::uint64_t bytes;
    };
    void accept(int source, Announcement const& what);
    void expect(Announcement const&) const noexcept {}

  private:
    struct Size {
        std::uint64_t bytes;
        int rank;
    };

    void announce();
    void sort();

    engine::ContextState* context_;
    memory::MeteredVector<Size> sizes_;
    memory::MeteredVector<Arrival> arrivals_;
    Lease lease_;  // of both lists
    std::optional<Error> fault_;
};

}  // namespace sluice::exchanges
