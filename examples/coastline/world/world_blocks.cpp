// SPDX-License-Identifier: BSD-3-Clause
#include "world_blocks.hpp"

#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

namespace coastline {

namespace {

constexpr std::uint32_t k_no_bin = std::numeric_limits<std::uint32_t>::max();

/// Cuts a bin when the first of its blocks is requested, and keeps the result for the other blocks.
class Cutter {
  public:
    explicit Cutter(CoastlineFile& file) : file_(file) {}

    void fill(Block& block, std::uint32_t bin, std::uint32_t sequence) {
        if (bin != bin_) {
            blocks_ = cut_into_blocks(file_.segments_of(bin));
            bin_ = bin;
        }
        coastline::fill(block, bin, sequence, blocks_.at(sequence), file_);
    }

  private:
    CoastlineFile& file_;
    std::uint32_t bin_ = k_no_bin;
    std::vector<std::vector<Part>> blocks_;
};

}  // namespace

WorldCount count_world(CoastlineFile& file, Band band, MPI_Comm comm) {
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    WorldCount count{std::vector<std::uint32_t>(file.bins()), 0, 0};
    auto const part = [&](int r) {
        return static_cast<std::uint32_t>(std::uint64_t{file.bins()} * static_cast<unsigned>(r) /
                                          static_cast<unsigned>(ranks));
    };
    for (std::uint32_t bin = part(rank); bin < part(rank + 1); ++bin) {
        std::uint32_t const row = bin / file.columns();
        double const south = 90.0 - 180.0 * (row + 1) / file.rows();
        if (south < band.south || south >= band.north) continue;
        std::vector<Segment> const segments = file.segments_of(bin);
        count.blocks_of_bin[bin] = static_cast<std::uint32_t>(cut_into_blocks(segments).size());
        count.segments += segments.size();
        for (Segment const& segment : segments)
            count.points += segment.points;
    }
    MPI_Allreduce(MPI_IN_PLACE, count.blocks_of_bin.data(), static_cast<int>(file.bins()), MPI_UINT32_T, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, &count.points, 1, MPI_UINT64_T, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, &count.segments, 1, MPI_UINT64_T, MPI_SUM, comm);
    return count;
}

void read_share(CoastlineFile& file, std::span<std::uint32_t const> blocks_of_bin, std::uint64_t first,
                std::span<Block> blocks) {
    Cutter cutter(file);
    std::size_t filled = 0;
    std::uint64_t number = 0;  // of the first block of the bin
    for (std::uint32_t bin = 0; bin < blocks_of_bin.size() && filled < blocks.size(); ++bin) {
        std::uint64_t const end = number + blocks_of_bin[bin];
        while (filled < blocks.size() && first + filled < end) {
            cutter.fill(blocks[filled], bin, static_cast<std::uint32_t>(first + filled - number));
            ++filled;
        }
        number = end;
    }
    for (Block& block : blocks.subspan(filled))
        block = Block{};
}

Checked check_part(CoastlineFile& file, WorldCurve const& curve, std::uint64_t first, std::span<Block const> blocks) {
    Cutter cutter(file);
    Checked checked;
    Block expected;
    for (Block const& block : blocks) {
        std::uint64_t const position = first + checked.blocks;
        if (position >= curve.blocks()) break;
        WorldCurve::Key const key = curve.at(position);
        cutter.fill(expected, key.bin, key.sequence);
        if (std::memcmp(expected.bytes, block.bytes, k_block_bytes) != 0) {
            BlockHead const found = head_of(block.bytes);
            throw std::runtime_error("position " + std::to_string(position) + " of the curve must hold block " +
                                     std::to_string(key.sequence) + " of bin " + std::to_string(key.bin) +
                                     ", but its bytes differ (its head says block " + std::to_string(found.sequence) +
                                     " of bin " + std::to_string(found.bin) + ")");
        }
        checked.points += head_of(expected.bytes).points;
        ++checked.blocks;
    }
    return checked;
}

}  // namespace coastline
