// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/inplace/host_copy.hpp"

#include <algorithm>
#include <new>
#include <string>

#include "memory/leased.hpp"
#include "mpi/mpi.hpp"
#include "sluice/error.hpp"
#include "types/datatype_pieces.hpp"

namespace sluice::plugin {

HostCopy::HostCopy(collectives::InplaceBlocks const& blocks, int rank, int size, MPI_Comm comm, Budget const& budget)
    : of_(blocks),
      comm_(comm),
      lengths_(static_cast<std::size_t>(size), 0, memory::LeasedAllocator<std::int64_t>(budget)),
      places_(static_cast<std::size_t>(size), 0, memory::LeasedAllocator<std::int64_t>(budget)) {
    std::uint64_t bytes = 0;
    for (int member = 0; member < size; ++member) {
        std::int64_t const count = blocks.counts.at(member);
        places_[static_cast<std::size_t>(member)] = static_cast<std::int64_t>(bytes);
        if (member == rank || count == 0) continue;
        std::uint64_t const length =
            types::TypeMap(blocks.type_of(member)).repeated(static_cast<std::uint64_t>(count)).size;
        lengths_[static_cast<std::size_t>(member)] = static_cast<std::int64_t>(length);
        bytes += length;
    }
    try {
        memory_ = memory::leased_bytes(budget, bytes, Purpose::staging);
    } catch (std::bad_alloc const&) {
        throw Error(ErrorCode::out_of_memory,
                    "no memory of the host for a copy of " + std::to_string(bytes) +
                        " bytes, by which an all-to-all in place exchanges memory of a device");
    }
    move(true);
}

collectives::InplaceBlocks HostCopy::blocks() const noexcept {
    return collectives::InplaceBlocks::alltoallv(memory_.get(), lengths_.data(), places_.data(), MPI_BYTE);
}

void HostCopy::unpack() {
    move(false);
}

void HostCopy::move(bool out) {
    for (std::size_t i = 0; i < lengths_.size(); ++i)
        if (lengths_[i] > 0) move_by_mpi(of_, static_cast<int>(i), memory_.get() + places_[i], out, comm_);
}

/// Each call packs at most 1 GiB, because MPI counts the bytes in an int.
void move_by_mpi(collectives::InplaceBlocks const& blocks, int member, std::byte* copy, bool out, MPI_Comm comm) {
    constexpr std::int64_t k_most = std::int64_t{1} << 30;
    MPI_Datatype const type = blocks.type_of(member);
    types::TypeMap const map(type);
    auto* at = static_cast<char*>(blocks.address_of(member, map.extent()));
    auto const each = static_cast<std::int64_t>(map.size());
    for (std::int64_t left = blocks.counts.at(member); left > 0;) {
        int const count = static_cast<int>(std::min(left, std::max<std::int64_t>(1, k_most / each)));
        int const bytes = static_cast<int>(count * each);
        int position = 0;
        if (out)
            mpi::check(MPI_Pack(at, count, type, copy, bytes, &position, comm), "MPI_Pack");
        else
            mpi::check(MPI_Unpack(copy, bytes, &position, at, count, type, comm), "MPI_Unpack");
        at += count * map.extent();
        copy += bytes;
        left -= count;
    }
}

}  // namespace sluice::plugin
