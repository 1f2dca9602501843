// SPDX-License-Identifier: BSD-3-Clause
/// Transfers the blocks of some slots to or from one partner, first their destinations, then their bytes.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

#include "memory/meter.hpp"
#include "redistribution/block_array.hpp"
#include "redistribution/strategies/moving/request_window.hpp"

namespace sluice::redistribution {

struct SlotRange {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
};

/// Cuts a transfer into messages of at most `most_bytes`, at the same places on both ends, however the blocks are
/// stored. Data go directly from and into the slots, through a derived type if one message touches several ranges. Only
/// the constructor allocates.
class BlockStream {
  public:
    /// `most_ranges`: the most ranges of one transfer.
    BlockStream(MPI_Comm comm, std::size_t most_ranges, memory::Meter& meter, std::uint64_t most_bytes = k_most_bytes);

    /// Starts a transfer of the slots `ranges`, which must outlive it, first of the array `words`, then of the array
    /// `blocks`.
    void open(int partner, std::span<SlotRange const> ranges, BlockArray const& words, BlockArray const& blocks);
    /// Starts a transfer of one array.
    void open(int partner, std::span<SlotRange const> ranges, BlockArray const& blocks);

    bool at_end() const noexcept { return array_ == arrays_end_; }
    /// Posts the next message.
    void post_send(RequestWindow& window);
    void post_receive(RequestWindow& window);

    static constexpr std::uint64_t k_most_bytes = std::uint64_t{1} << 30;

  private:
    /// One message: `count` elements of `type` at `address`.
    struct Message {
        void* address;
        int count;
        MPI_Datatype type;
    };
    Message next_message();
    void add_segment(std::byte* address, std::uint64_t bytes);
    void skip_finished_arrays() noexcept;
    static void forget(Message& message);

    MPI_Comm comm_;
    std::uint64_t most_bytes_;
    int partner_ = MPI_PROC_NULL;
    BlockArray arrays_[2] = {};
    int array_ = 0;
    int arrays_end_ = 0;
    std::span<SlotRange const> ranges_;
    std::size_t range_ = 0;     // the next message begins in this range,
    std::uint64_t offset_ = 0;  // at this byte
    memory::MeteredVector<int> lengths_;
    memory::MeteredVector<MPI_Aint> addresses_;
    std::size_t segments_ = 0;
};

/// Posts the messages of one transfer in and one out, alternately, as the proof of RequestWindow requires.
void post_alternating(BlockStream& incoming, BlockStream& outgoing, RequestWindow& window);

}  // namespace sluice::redistribution
