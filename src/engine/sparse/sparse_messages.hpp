// SPDX-License-Identifier: BSD-3-Clause
/// The part of a sparse exchange that goes by messages.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "engine/context_state.hpp"
#include "engine/sparse/sparse_packets.hpp"
#include "groups/nonblocking_barrier.hpp"
#include "groups/tags.hpp"
#include "memory/meter.hpp"
#include "mpi/mpi.hpp"

namespace sluice::engine {

/// Exchanges packets of items with ranks outside the node by nonblocking consensus (T. Hoefler, C. Siebert, A.
/// Lumsdaine, PPoPP 2010): synchronous sends, then a nonblocking barrier.
template <typename Item, typename Taker>
class SparseMessages {
  public:
    SparseMessages(ContextState& context, Taker& taker, Bytes bytes, groups::TagRange tags)
        : comm_(context.comm()),
          tags_(tags),
          taker_(taker),
          packets_(context.size(), bytes - bytes / 9, context.meter()),
          is_done_(packets_.has_place_for_all() ? 0 : static_cast<std::size_t>(context.size()) / 64 + 1, 0,
                   memory::MeteredAllocator<std::uint64_t>(context.meter())),
          // An eighth of the bytes of the packets.
          arriving_(std::clamp<std::size_t>(packets_.places() / 4, 1, 8), Arriving{},
                    memory::MeteredAllocator<Arriving>(context.meter())),
          received_(arriving_.size() * packets_.most_items(), Item{}, memory::MeteredAllocator<Item>(context.meter())) {
    }

    /// The same as SparseRings::while_waiting(), while a packet is under way.
    void while_waiting(std::function<void()> look) { look_ = std::move(look); }

    /// Sends an item, in a packet that is not full if there are more targets than places.
    void send(int target, Item const& item) {
        if (!packets_.takes(target)) {
            flush_all();
            packets_.forget_targets();
            packets_.takes(target);
        }
        put(target, item);
    }

    /// The same for a caller that comes again with the items that have to wait: so all packets but the last to each
    /// target are full, whatever the order of the items.
    enum class Turn { now, later, earlier };
    Turn send_in_turn(int target, Item const& item) {
        if (is_done(target)) return Turn::earlier;
        if (!packets_.takes(target)) {
            are_some_left_ = true;
            return Turn::later;
        }
        put(target, item);
        return Turn::now;
    }
    /// True if items have to wait; their turn begins.
    bool next_turn() {
        if (!std::exchange(are_some_left_, false)) return false;
        flush_all();
        packets_.each_target([this](int target) {
            is_done_[static_cast<std::size_t>(target) / 64] |= std::uint64_t{1} << (target % 64);
        });
        packets_.forget_targets();
        return true;
    }

    void flush_all() {
        for (std::size_t place = 0; place < packets_.places(); ++place)
            if (!packets_.empty(place)) flush(place);
    }

    /// Returns true once the packets of all ranks have arrived. Call it until then.
    bool finish() {
        if (finished_) return true;
        receive();
        int done = 0;
        if (!all_sent_) {
            mpi::check(
                MPI_Testall(static_cast<int>(packets_.places()), packets_.all_sending(), &done, MPI_STATUSES_IGNORE),
                "MPI_Testall");
            if (done != 0) all_sent_.emplace(comm_, tags_[1]);
            return false;
        }
        if (!all_sent_->is_passed()) return false;
        while (arriving_count_ > 0)
            take_oldest();
        finished_ = true;
        return true;
    }

    /// Starts to receive the packets that MPI has announced. Several are under way at once: one after the other, each
    /// would cost the latency of the network.
    void receive() {
        for (;;) {
            while (arriving_count_ > 0 && mpi::is_complete(arriving_[oldest_].request))
                take_oldest();
            int there = 0;
            MPI_Status status;
            mpi::check(MPI_Iprobe(MPI_ANY_SOURCE, tags_[0], comm_, &there, &status), "MPI_Iprobe");
            if (there == 0) return;
            if (arriving_count_ == arriving_.size()) take_oldest();
            std::size_t const at = (oldest_ + arriving_count_++) % arriving_.size();
            Arriving& packet = arriving_[at];
            packet.source = status.MPI_SOURCE;
            mpi::check(MPI_Get_count(&status, MPI_BYTE, &packet.bytes), "MPI_Get_count");
            mpi::check(
                MPI_Irecv(packet_at(at), packet.bytes, MPI_BYTE, packet.source, tags_[0], comm_, &packet.request),
                "MPI_Irecv");
        }
    }

    std::uint64_t received() const noexcept { return count_; }
    /// Messages of this rank so far.
    std::uint64_t sent() const noexcept { return sent_; }
    std::size_t most_items() const noexcept { return packets_.most_items(); }

  private:
    bool is_done(int target) const noexcept {
        return !is_done_.empty() &&
               (is_done_[static_cast<std::size_t>(target) / 64] >> (target % 64) & std::uint64_t{1}) != 0;
    }
    void put(int target, Item const& item) {
        std::size_t const place = packets_.place_of(target);
        if (packets_.is_full(place)) flush(place);
        packets_.add(place, item);
    }
    void flush(std::size_t place) {
        for (;;) {
            receive();
            if (mpi::is_complete(packets_.sending(place))) break;
            if (look_) look_();
        }
        packets_.send(place, comm_, tags_[0]);
        ++sent_;
    }

    void take_oldest() {
        Arriving& packet = arriving_[oldest_];
        mpi::check(MPI_Wait(&packet.request, MPI_STATUS_IGNORE), "MPI_Wait");
        std::size_t const items = static_cast<std::size_t>(packet.bytes) / sizeof(Item);
        count_ += items;
        for (std::size_t i = 0; i < items; ++i)
            taker_.accept(packet.source, packet_at(oldest_)[i]);
        oldest_ = (oldest_ + 1) % arriving_.size();
        --arriving_count_;
    }

    Item* packet_at(std::size_t at) noexcept { return received_.data() + at * packets_.most_items(); }

    /// A packet on its way into `received_`, which is a ring in the order of arrival.
    struct Arriving {
        MPI_Request request = MPI_REQUEST_NULL;
        int source = -1;
        int bytes = 0;
    };

    MPI_Comm comm_;
    groups::TagRange tags_;
    Taker& taker_;
    SparsePackets<Item> packets_;
    memory::MeteredVector<std::uint64_t> is_done_;  // a bit for each rank: its items have all been sent
    bool are_some_left_ = false;
    std::uint64_t sent_ = 0;
    memory::MeteredVector<Arriving> arriving_;
    memory::MeteredVector<Item> received_;
    std::size_t oldest_ = 0;
    std::size_t arriving_count_ = 0;
    std::optional<groups::NonblockingBarrier> all_sent_;
    std::function<void()> look_;
    bool finished_ = false;
    std::uint64_t count_ = 0;
};

}  // namespace sluice::engine
