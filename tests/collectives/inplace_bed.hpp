// SPDX-License-Identifier: BSD-3-Clause
/// Parts that the tests of the in-place all-to-all share: bytes that name their origin, and the arguments of a call.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/inplace_alltoall.hpp"
#include "memory/staging_pool.hpp"
#include "mpi/mpi.hpp"
#include "node/remote_memory.hpp"
#include "sluice/budget.hpp"

namespace sluice::tests {

/// Returns byte `i`, in packed order, of the block that `from` has for `to` in call `call`.
inline unsigned char byte_of(int from, int to, std::uint64_t i, int call = 0) {
    std::uint64_t word = (static_cast<std::uint64_t>(from) * 131 + static_cast<std::uint64_t>(to) * 17 +
                          static_cast<std::uint64_t>(call) * 7 + i / 8 + 1) *
                         0x9e3779b97f4a7c15ULL;
    word ^= word >> 31;
    return static_cast<unsigned char>(word >> (8 * (i % 8)));
}

/// Has its own private communicator, door to its peers' memory and staging, as the plugin does.
class InplaceBed {
  public:
    explicit InplaceBed(bool direct = true, Bytes staging = 256_KiB)
        : comm_(mpi::Communicator::twin_of(MPI_COMM_WORLD)), peers_(direct), pool_(nullptr), staging_(staging) {}

    int rank() const { return mpi::rank_in(comm_.get()); }
    int size() const { return mpi::size_of(comm_.get()); }
    collectives::InplaceMeans means() { return {peers_, pool_, staging_}; }
    groups::Members members(int tag = 5) const {
        groups::Members members;
        members.comm = comm_.get();
        members.rank = rank();
        members.size = size();
        members.tag = tag;
        return members;
    }
    /// Runs one call; returns its MPI error class.
    int run(collectives::InplaceBlocks const& blocks) {
        return collectives::run_in_place(means(), members(), blocks, &report_);
    }
    AlltoallReport const& report() const { return report_; }
    memory::StagingPool& pool() { return pool_; }

  private:
    mpi::Communicator comm_;
    node::RemoteMemory peers_;
    memory::StagingPool pool_;
    Bytes staging_;
    AlltoallReport report_;
};

/// Blocks of `bytes` bytes for each rank, contiguous, with guards around them.
class ByteBlocks {
  public:
    ByteBlocks(int rank, int size, std::uint64_t bytes)
        : rank_(rank),
          size_(size),
          bytes_(bytes),
          memory_(static_cast<std::uint64_t>(size) * bytes + 2 * k_guard, 0xa5) {}

    unsigned char* data() { return memory_.data() + k_guard; }
    void fill(int call = 0) {
        for (int to = 0; to < size_; ++to)
            for (std::uint64_t i = 0; i < bytes_; ++i)
                data()[static_cast<std::uint64_t>(to) * bytes_ + i] = byte_of(rank_, to, i, call);
    }
    /// Returns a description of what is wrong, or an empty text.
    std::string problem(int call = 0) {
        for (int from = 0; from < size_; ++from)
            for (std::uint64_t i = 0; i < bytes_; ++i)
                if (data()[static_cast<std::uint64_t>(from) * bytes_ + i] != byte_of(from, rank_, i, call))
                    return "byte " + std::to_string(i) + " of " + std::to_string(bytes_) + " from rank " +
                           std::to_string(from) + " is wrong";
        for (std::uint64_t i = 0; i < k_guard; ++i)
            if (memory_[i] != 0xa5 || memory_[memory_.size() - 1 - i] != 0xa5) return "a guard was overwritten";
        return {};
    }

  private:
    static constexpr std::uint64_t k_guard = 61;
    int rank_;
    int size_;
    std::uint64_t bytes_;
    std::vector<unsigned char> memory_;
};

}  // namespace sluice::tests
