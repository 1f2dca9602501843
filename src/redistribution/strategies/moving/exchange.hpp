// SPDX-License-Identifier: BSD-3-Clause
/// MPI_Alltoallv with 64-bit counts of units of any size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/context_state.hpp"
#include "memory/meter.hpp"
#include "redistribution/strategies/moving/request_window.hpp"

namespace sluice::redistribution {

/// Takes O(ranks) memory, allocated by the constructor.
class Exchange {
  public:
    Exchange(engine::ContextState& context, memory::Meter& meter);

    /// Collective. Sends `send_counts[r]` units to each rank r from consecutive places of `send`, and receives in the
    /// same way. `unit_bytes` is equal on all ranks. If every count, displacement and size fits MPI's int it is one
    /// MPI_Alltoallv of a contiguous type, otherwise pairs of messages of at most `most_bytes` (for tests; equal on all
    /// ranks, at most INT_MAX).
    void run(std::uint64_t unit_bytes, std::byte const* send, std::span<std::uint64_t const> send_counts,
             std::byte* receive, std::span<std::uint64_t const> receive_counts,
             std::uint64_t most_bytes = k_most_bytes);

    /// Local: whether the exchange of this rank can be one call.
    bool fits_one_call(std::uint64_t unit_bytes, std::span<std::uint64_t const> send_counts,
                       std::span<std::uint64_t const> receive_counts, std::uint64_t most_bytes = k_most_bytes) const;
    /// run() where the ranks have agreed already whether it fits one call on each of them.
    void run_agreed(bool fits_everywhere, std::uint64_t unit_bytes, std::byte const* send,
                    std::span<std::uint64_t const> send_counts, std::byte* receive,
                    std::span<std::uint64_t const> receive_counts, std::uint64_t most_bytes = k_most_bytes);

    std::uint64_t requests_peak() const noexcept { return window_.peak(); }

    static constexpr std::uint64_t k_most_bytes = std::uint64_t{1} << 30;

  private:
    void in_one_call(std::uint64_t unit_bytes, std::byte const* send, std::span<std::uint64_t const> send_counts,
                     std::byte* receive, std::span<std::uint64_t const> receive_counts);
    void in_pieces(std::uint64_t unit_bytes, std::byte const* send, std::span<std::uint64_t const> send_counts,
                   std::byte* receive, std::span<std::uint64_t const> receive_counts, std::uint64_t most_bytes);

    engine::ContextState& context_;
    RequestWindow window_;
    memory::MeteredVector<int> arguments_;                // counts and displacements of both sides
    memory::MeteredVector<std::uint64_t> displacements_;  // of both sides
};

}  // namespace sluice::redistribution
