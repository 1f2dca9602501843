// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/inplace/sent_copy.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <vector>

#include "collectives/device_blocks.hpp"
#include "mpi/mpi.hpp"
#include "plugin/services/inplace/host_copy.hpp"
#include "sluice/error.hpp"
#include "types/datatype_pieces.hpp"

namespace sluice::plugin {

namespace {

std::uint64_t as_unsigned(std::int64_t count) {
    return static_cast<std::uint64_t>(count);
}

/// Bytes that lie at `offset`, as one element; an int cannot name them all at once.
MPI_Datatype type_of_bytes(std::uint64_t offset, std::uint64_t bytes) {
    constexpr std::uint64_t k_most = 1 << 30;
    std::vector<int> lengths;
    std::vector<MPI_Aint> places;
    for (std::uint64_t done = 0; done < bytes; done += k_most) {
        lengths.push_back(static_cast<int>(std::min(bytes - done, k_most)));
        places.push_back(static_cast<MPI_Aint>(offset + done));
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    mpi::check(
        MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(), MPI_PACKED, &type),
        "MPI_Type_create_hindexed");
    mpi::check(MPI_Type_commit(&type), "MPI_Type_commit");
    return type;
}

}  // namespace

SentCopy::SentCopy(collectives::InplaceBlocks const& blocks, int rank, int size, Budget const& budget)
    : lengths_(static_cast<std::size_t>(size), 0, memory::LeasedAllocator<std::uint64_t>(budget)),
      types_(static_cast<std::size_t>(size), MPI_PACKED, memory::LeasedAllocator<MPI_Datatype>(budget)) {
    measure(blocks, rank);
    try {
        memory_ = memory::leased_bytes(budget, bytes_, Purpose::staging);
    } catch (std::bad_alloc const&) {
        throw Error(ErrorCode::out_of_memory, "no memory for a copy of " + std::to_string(bytes_) +
                                                  " bytes, which a nonblocking all-to-all in place sends");
    }
    pack_blocks(blocks, rank);
    try {
        make_types();
    } catch (...) {
        free_types();
        throw;
    }
}

SentCopy::~SentCopy() {
    free_types();
}

void SentCopy::measure(collectives::InplaceBlocks const& blocks, int rank) {
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
        int const member = static_cast<int>(i);
        if (member == rank || blocks.counts.at(member) == 0) continue;
        lengths_[i] = types::TypeMap(blocks.type_of(member)).repeated(as_unsigned(blocks.counts.at(member))).size;
        bytes_ += lengths_[i];
    }
}

void SentCopy::pack_blocks(collectives::InplaceBlocks const& blocks, int rank) {
    std::byte* to = memory_.get();
    bool const on_device = collectives::device_of(blocks, rank, static_cast<int>(lengths_.size())) != nullptr;
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
        if (lengths_[i] == 0) continue;
        int const member = static_cast<int>(i);
        if (on_device) {
            move_by_mpi(blocks, member, to, true, MPI_COMM_SELF);
        } else {
            types::TypeMap const map(blocks.type_of(member));
            types::PieceCursor from(map, blocks.address_of(member, map.extent()),
                                    as_unsigned(blocks.counts.at(member)));
            types::pack(from, {to, lengths_[i]});
        }
        to += lengths_[i];
    }
}

void SentCopy::make_types() {
    std::uint64_t offset = 0;
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
        if (lengths_[i] > 0) types_[i] = type_of_bytes(offset, lengths_[i]);
        offset += lengths_[i];
    }
}

void SentCopy::free_types() noexcept {
    for (MPI_Datatype& type : types_) {
        if (type != MPI_PACKED) MPI_Type_free(&type);
    }
}

}  // namespace sluice::plugin
