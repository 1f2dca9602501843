// SPDX-License-Identifier: BSD-3-Clause
/// Where the bytes of a call go, and which memory they keep busy.
#include <algorithm>
#include <array>
#include <optional>

#include "plugin/tables/message_bytes.hpp"
#include "plugin/watch/call.hpp"
#include "plugin/watch/watch.hpp"

namespace sluice::plugin {

void Call::target(int rank, MPI_Win window) noexcept {
    if (rank < 0) return;
    int const target = watch_->windows().world_rank(window, rank);
    if (target < 0) {
        unplaced_ = out_ + in_;
        return;
    }
    if (out_ > 0) destination_ = target;
    if (in_ > 0) watch_->came_from(target, in_);
}

void Call::to(int destination, MPI_Comm comm) noexcept {
    if (destination < 0) return;
    // Most messages go over the world, whose ranks need no look-up.
    destination_ = comm == MPI_COMM_WORLD ? destination : watch_->communicators().world_rank(comm, destination);
    if (destination_ < 0) unplaced_ = out_;
}

void Call::to_root(int root, MPI_Comm comm) noexcept {
    Known const known = watch_->communicators().find(comm);
    if (known.size == 0)
        unplaced_ = out_;
    else if (known.rank != root)
        to(root, comm);
}

void Call::from_root(int root, MPI_Comm comm) noexcept {
    Known const known = watch_->communicators().find(comm);
    if (known.size > 0 && known.rank == root) return;
    int const source = watch_->communicators().world_rank(comm, root);
    if (source < 0)
        unplaced_ = in_;
    else
        watch_->came_from(source, in_);
}

void Call::to_each(std::uint64_t bytes, MPI_Comm comm) noexcept {
    if (!watch_->communicators().add_to_each(comm, bytes)) unplaced_ = out_;
}

namespace {

MPI_Datatype type_at(MPI_Datatype type, std::size_t) noexcept {
    return type;
}
MPI_Datatype type_at(MPI_Datatype const* types, std::size_t i) noexcept {
    return types[i];
}

}  // namespace

template <class Count, class Types>
void Call::to_members(MessageBytes& sizes, Count const* counts, Types types, MPI_Comm comm) noexcept {
    Communicators& communicators = watch_->communicators();
    Known const known = communicators.find(comm);
    std::array<int, 256> ranks;
    int placed = 0;
    for (int n = 0; counts != nullptr && placed < known.size; placed += n) {
        n = communicators.members(comm, known, placed, ranks);
        if (n == 0) break;
        for (int i = 0; i < n; ++i) {
            auto const member = static_cast<std::size_t>(placed) + static_cast<std::size_t>(i);
            if (placed + i == known.rank || counts[member] <= 0) continue;
            watch_->sent_to(ranks[static_cast<std::size_t>(i)], sizes.bytes(counts[member], type_at(types, member)));
        }
    }
    if (placed < known.size || known.size == 0) unplaced_ = out_;
}

template void Call::to_members(MessageBytes&, int const*, MPI_Datatype, MPI_Comm) noexcept;
template void Call::to_members(MessageBytes&, int const*, MPI_Datatype const*, MPI_Comm) noexcept;
template void Call::to_members(MessageBytes&, MPI_Count const*, MPI_Datatype, MPI_Comm) noexcept;
template void Call::to_members(MessageBytes&, MPI_Count const*, MPI_Datatype const*, MPI_Comm) noexcept;

void Call::leaves_with_gaps(MessageBytes& sizes, void const* buffer, MPI_Count count, MPI_Datatype type) noexcept {
    if (out_ == 0 || buffer == nullptr) return;
    if (std::optional<FlyingRange> const range = sizes.message(buffer, count, type)) leaves_ = *range;
}

namespace {

/// Of one argument there is one range; more are taken as one with gaps.
void take_in(FlyingRange& into, TouchedRange const& range) noexcept {
    if (into.span == 0) {
        into = {range.from, range.bytes, range.data};
        return;
    }
    std::uintptr_t const end = std::max(into.from + into.span, range.from + range.bytes);
    into.from = std::min(into.from, range.from);
    into.span = end - into.from;
    into.bytes += range.data;
}

}  // namespace

/// What the call does not give or get at all, such as the send buffer of a root, is not busy; nor are the blocks of
/// neighbours that are none.
void Call::busy(TouchedBy const& touched) noexcept {
    if (out_ + in_ == 0) return;
    TouchedMemory memory(TouchedMemory::Wanted::messages);
    touched.fill(memory);
    if (memory.touches_anything()) return;
    for (TouchedRange const& range : memory.ranges())
        if (range.writes || out_ > 0) take_in(range.writes ? comes_ : leaves_, range);
    leaves_.bytes = std::min(leaves_.bytes, out_);
    comes_.bytes = std::min(comes_.bytes, one_buffer_ || in_ == 0 ? kept_busy() : in_);
}

}  // namespace sluice::plugin
