// SPDX-License-Identifier: BSD-3-Clause
#include "memory/block_memory.hpp"

#include <algorithm>
#include <utility>

#include "base/units.hpp"
#include "kernel/disk_file.hpp"
#include "sluice/error.hpp"

namespace sluice::memory {

Bytes BlockMemory::limit() const {
    return limit_.count != 0 ? limit_ : budget_.limit() / 4;
}

bool BlockMemory::is_over() const {
    return held_ > limit().count || budget_.held() > budget_.limit();
}

/// The room has null memory if the allocation fails.
BlockRoom BlockMemory::made(std::uint64_t bytes, Lease lease) {
    BlockRoom room;
    room.memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kernel::DiskFile::k_sector, bytes)));
    if (!room) return room;
    room.bytes_ = bytes;
    room.lease_ = std::move(lease);
    held_ += bytes;
    budget_.add_resident(Bytes{bytes});
    peak_ = std::max(peak_, held_);
    return room;
}

BlockRoom BlockMemory::spare_of(std::uint64_t bytes) {
    auto const at = std::ranges::find(spare_, bytes, [](BlockRoom const& room) { return room.bytes_; });
    if (at == spare_.end()) return {};
    BlockRoom room = std::move(*at);
    spare_.erase(at);
    return room;
}

void BlockMemory::spare_free(std::size_t keep) noexcept {
    while (spare_.size() > keep) {
        held_ -= spare_.back().bytes_;
        budget_.remove_resident(Bytes{spare_.back().bytes_});
        spare_.pop_back();
    }
}

BlockRoom BlockMemory::take(std::uint64_t bytes) {
    if (BlockRoom room = spare_of(bytes)) return room;
    for (;;) {
        if (held_ + bytes <= limit().count)
            if (std::optional<Lease> lease = budget_.try_lease(Bytes{bytes}, Purpose::paged))
                if (BlockRoom room = made(bytes, *std::move(lease))) return room;
        if (spare_.empty()) return {};
        spare_free(spare_.size() - 1);  // frees spare rooms of another size
    }
}

BlockRoom BlockMemory::take_beyond(std::uint64_t bytes) {
    if (BlockRoom room = take(bytes)) return room;
    if (BlockRoom room = made(bytes, budget_.lease_beyond(Bytes{bytes}, Purpose::paged))) return room;
    throw Error(ErrorCode::out_of_memory, "no memory for a block of " + base::format_bytes(Bytes{bytes}) +
                                              " of a paged file; its blocks hold " + base::format_bytes(held()));
}

void BlockMemory::give_back(BlockRoom room) {
    if (room) spare_.push_back(std::move(room));
}

}  // namespace sluice::memory
