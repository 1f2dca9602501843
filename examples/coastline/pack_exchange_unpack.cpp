// SPDX-License-Identifier: BSD-3-Clause
#include "pack_exchange_unpack.hpp"

#include <numeric>
#include <vector>

namespace coastline {

std::uint64_t pack_exchange_unpack(MPI_Comm comm, std::span<Block> blocks,
                                   sluice::DestinationFunction const& destination) {
    int ranks = 1;
    MPI_Comm_size(comm, &ranks);
    auto const n = static_cast<std::size_t>(ranks);

    std::vector<int> send_counts(n);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        sluice::Destination const to = destination(i, blocks[i].bytes);
        if (to.rank >= 0) ++send_counts[static_cast<std::size_t>(to.rank)];
    }
    std::vector<int> receive_counts(n);
    MPI_Alltoall(send_counts.data(), 1, MPI_INT, receive_counts.data(), 1, MPI_INT, comm);
    std::vector<int> send_starts(n);
    std::vector<int> receive_starts(n);
    std::exclusive_scan(send_counts.begin(), send_counts.end(), send_starts.begin(), 0);
    std::exclusive_scan(receive_counts.begin(), receive_counts.end(), receive_starts.begin(), 0);

    std::vector<Block> packed(static_cast<std::size_t>(send_starts.back() + send_counts.back()));
    std::vector<int> next = send_starts;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        sluice::Destination const to = destination(i, blocks[i].bytes);
        if (to.rank >= 0) packed[static_cast<std::size_t>(next[static_cast<std::size_t>(to.rank)]++)] = blocks[i];
    }

    std::vector<Block> received(static_cast<std::size_t>(receive_starts.back() + receive_counts.back()));
    MPI_Datatype block_type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(static_cast<int>(k_block_bytes), MPI_BYTE, &block_type);
    MPI_Type_commit(&block_type);
    MPI_Alltoallv(packed.data(), send_counts.data(), send_starts.data(), block_type, received.data(),
                  receive_counts.data(), receive_starts.data(), block_type, comm);
    MPI_Type_free(&block_type);

    for (Block& block : blocks)
        block = Block{};
    // A block carries its key, so its slot can be computed here as well.
    for (Block const& block : received)
        blocks[static_cast<std::size_t>(destination(0, block.bytes).index)] = block;
    return (packed.size() + received.size()) * k_block_bytes;
}

}  // namespace coastline
