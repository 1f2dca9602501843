// SPDX-License-Identifier: BSD-3-Clause
/// The part of a sparse exchange that goes by messages.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/context_state.hpp"
#include "groups/nonblocking_barrier.hpp"
#include "groups/tags.hpp"
#include "memory/meter.hpp"
#include "mpi/mpi.hpp"

namespace sluice::engine {

/// Collects the items for one target in a packet. Two packets share a place in the table: one is filled while the
/// other is under way.
///
///     target % places ->  | filling | sending |
template <typename Item>
class SparsePackets {
  public:
    SparsePackets(int ranks, Bytes bytes, memory::Meter& meter)
        : places_(std::min<std::size_t>(static_cast<std::size_t>(ranks), 32)),
          items_each_(std::clamp<std::size_t>(bytes.count / (2 * places_ * sizeof(Item)), 1, 1024)),
          items_(2 * places_ * items_each_, Item{}, memory::MeteredAllocator<Item>(meter)),
          filling_(places_, Filling{}, memory::MeteredAllocator<Filling>(meter)),
          sending_(places_, MPI_REQUEST_NULL, memory::MeteredAllocator<MPI_Request>(meter)) {}

    std::size_t most_items() const noexcept { return items_each_; }
    std::size_t places() const noexcept { return places_; }
    std::size_t place_of(int target) const noexcept { return static_cast<std::size_t>(target) % places_; }

    bool must_go_first(std::size_t place, int target) const noexcept {
        Filling const& filling = filling_[place];
        return filling.count == items_each_ || (filling.count > 0 && filling.target != target);
    }
    void add(std::size_t place, int target, Item const& item) noexcept {
        Filling& filling = filling_[place];
        filling.target = target;
        items_[(2 * place + filling.half) * items_each_ + filling.count++] = item;
    }
    bool empty(std::size_t place) const noexcept { return filling_[place].count == 0; }
    MPI_Request& sending(std::size_t place) noexcept { return sending_[place]; }
    MPI_Request* all_sending() noexcept { return sending_.data(); }

    /// Starts the synchronous send of the packet being filled; the one before must be complete.
    void send(std::size_t place, MPI_Comm comm, int tag) {
        Filling& filling = filling_[place];
        mpi::check(MPI_Issend(&items_[(2 * place + filling.half) * items_each_],
                              static_cast<int>(sizeof(Item) * filling.count), MPI_BYTE, filling.target, tag, comm,
                              &sending_[place]),
                   "MPI_Issend");
        filling.half ^= 1U;
        filling.count = 0;
    }

  private:
    struct Filling {
        int target = -1;
        std::size_t count = 0;
        std::size_t half = 0;
    };
    std::size_t places_;
    std::size_t items_each_;
    memory::MeteredVector<Item> items_;
    memory::MeteredVector<Filling> filling_;
    memory::MeteredVector<MPI_Request> sending_;
};

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
          // An eighth of the bytes of the packets.
          arriving_(std::clamp<std::size_t>(packets_.places() / 4, 1, 8), Arriving{},
                    memory::MeteredAllocator<Arriving>(context.meter())),
          received_(arriving_.size() * packets_.most_items(), Item{}, memory::MeteredAllocator<Item>(context.meter())) {
    }

    void send(int target, Item const& item) {
        std::size_t const place = packets_.place_of(target);
        if (packets_.must_go_first(place, target)) flush(place);
        packets_.add(place, target, item);
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

    std::uint64_t received() const noexcept { return count_; }

  private:
    void flush(std::size_t place) {
        do
            receive();
        while (!mpi::is_complete(packets_.sending(place)));
        packets_.send(place, comm_, tags_[0]);
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
    memory::MeteredVector<Arriving> arriving_;
    memory::MeteredVector<Item> received_;
    std::size_t oldest_ = 0;
    std::size_t arriving_count_ = 0;
    std::optional<groups::NonblockingBarrier> all_sent_;
    bool finished_ = false;
    std::uint64_t count_ = 0;
};

}  // namespace sluice::engine
