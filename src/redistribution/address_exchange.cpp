// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/address_exchange.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "groups/agree.hpp"
#include "groups/nonblocking_barrier.hpp"
#include "groups/tags.hpp"
#include "mpi/mpi.hpp"
#include "node/node.hpp"
#include "node/sleep_unless.hpp"

namespace sluice::redistribution {

namespace {

constexpr int k_tag_addresses = groups::tags::k_addresses[0];
constexpr int k_tag_all_arrived = groups::tags::k_addresses[1];

/// Tells the receiver that block `block` of the sender goes to its slot `slot`.
struct Entry {
    std::uint64_t slot;
    std::uint64_t block;
};

Error offence(int rank, std::uint64_t block, Destination const& to, std::string const& why) {
    return {ErrorCode::invalid_argument, "block " + std::to_string(block) + " of rank " + std::to_string(rank) +
                                             " is sent to rank " + std::to_string(to.rank) + ", index " +
                                             std::to_string(to.index) + ": " + why};
}

/// Collects the entries for one target in a packet. Two packets share a place in the table: one is filled while the
/// other is under way.
///
///     target % places ->  | filling | sending |
class Packets {
  public:
    Packets(int ranks, Bytes bytes, memory::Meter& meter)
        : places_(std::min<std::size_t>(static_cast<std::size_t>(ranks), 32)),
          entries_each_(std::clamp<std::size_t>(bytes.count / (2 * places_ * sizeof(Entry)), 1, 1024)),
          entries_(2 * places_ * entries_each_, Entry{}, memory::MeteredAllocator<Entry>(meter)),
          filling_(places_, Filling{}, memory::MeteredAllocator<Filling>(meter)),
          sending_(places_, MPI_REQUEST_NULL, memory::MeteredAllocator<MPI_Request>(meter)) {}

    std::size_t most_entries() const noexcept { return entries_each_; }
    std::size_t places() const noexcept { return places_; }
    std::size_t place_of(int target) const noexcept { return static_cast<std::size_t>(target) % places_; }

    bool must_go_first(std::size_t place, int target) const noexcept {
        Filling const& filling = filling_[place];
        return filling.count == entries_each_ || (filling.count > 0 && filling.target != target);
    }
    void add(std::size_t place, int target, Entry const& entry) noexcept {
        Filling& filling = filling_[place];
        filling.target = target;
        entries_[(2 * place + filling.half) * entries_each_ + filling.count++] = entry;
    }
    bool empty(std::size_t place) const noexcept { return filling_[place].count == 0; }
    MPI_Request& sending(std::size_t place) noexcept { return sending_[place]; }
    MPI_Request* all_sending() noexcept { return sending_.data(); }

    /// Starts the synchronous send of the packet being filled; the one before must be complete.
    void send(std::size_t place, MPI_Comm comm) {
        Filling& filling = filling_[place];
        mpi::check(
            MPI_Issend(&entries_[(2 * place + filling.half) * entries_each_], static_cast<int>(2 * filling.count),
                       MPI_UINT64_T, filling.target, k_tag_addresses, comm, &sending_[place]),
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
    std::size_t entries_each_;
    memory::MeteredVector<Entry> entries_;
    memory::MeteredVector<Filling> filling_;
    memory::MeteredVector<MPI_Request> sending_;
};

/// Records arriving entries and keeps the first error. It fills an inverse map if it has one; otherwise it only marks
/// which slots are taken, with one bit for each, so that the marks stay in the cache.
class Register {
  public:
    Register(AddressMap* inverse, std::uint64_t slots, int rank, memory::Meter& meter)
        : inverse_(inverse),
          taken_(inverse == nullptr ? slots / 64 + 1 : 0, 0, memory::MeteredAllocator<std::uint64_t>(meter)),
          slots_(slots),
          rank_(rank) {}

    /// Records that a block goes to one of our slots.
    void accept(int source, Entry const& entry) {
        if (entry.slot >= slots_)
            fail(source, entry, "that rank has " + std::to_string(slots_) + " slots");
        else if (inverse_ == nullptr)
            mark_taken(source, entry);
        else if (inverse_->is_nowhere(entry.slot))
            inverse_->set(entry.slot, {source, static_cast<std::int64_t>(entry.block)});
        else
            fail(source, entry,
                 "block " + std::to_string((*inverse_)[entry.slot].index) + " of rank " +
                     std::to_string((*inverse_)[entry.slot].rank) + " goes there too");
    }

    /// Prefetches the entry of the map that `accept` will need.
    void expect(std::uint64_t slot) const noexcept {
        if (inverse_ != nullptr && slot < slots_) inverse_->prefetch(slot);
    }

    void fail(Error error) {
        if (!error_) error_.emplace(std::move(error));
    }
    std::optional<Error> const& error() const noexcept { return error_; }

  private:
    void mark_taken(int source, Entry const& entry) {
        std::uint64_t& word = taken_[entry.slot / 64];
        std::uint64_t const bit = std::uint64_t{1} << (entry.slot % 64);
        if ((word & bit) != 0) fail(source, entry, "another block goes there too");
        word |= bit;
    }
    void fail(int source, Entry const& entry, std::string const& why) {
        fail(offence(source, entry.block, {rank_, static_cast<std::int64_t>(entry.slot)}, why));
    }
    AddressMap* inverse_;
    memory::MeteredVector<std::uint64_t> taken_;
    std::uint64_t slots_;
    int rank_;
    std::optional<Error> error_;
};

/// Sends to and receives from ranks outside the node: packets of entries, by nonblocking consensus.
class MessageSide {
  public:
    MessageSide(engine::ContextState& context, Register& taken, Bytes bytes)
        : comm_(context.comm()),
          register_(taken),
          packets_(context.size(), bytes - bytes / 9, context.meter()),
          // An eighth of the bytes of the packets.
          arriving_(std::clamp<std::size_t>(packets_.places() / 4, 1, 8), Arriving{},
                    memory::MeteredAllocator<Arriving>(context.meter())),
          received_(arriving_.size() * packets_.most_entries(), Entry{},
                    memory::MeteredAllocator<Entry>(context.meter())) {}

    void send(int target, Entry const& entry) {
        std::size_t const place = packets_.place_of(target);
        if (packets_.must_go_first(place, target)) flush(place);
        packets_.add(place, target, entry);
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
        if (!everybody_) {
            mpi::check(
                MPI_Testall(static_cast<int>(packets_.places()), packets_.all_sending(), &done, MPI_STATUSES_IGNORE),
                "MPI_Testall");
            if (done != 0) everybody_.emplace(comm_, k_tag_all_arrived);
            return false;
        }
        if (!everybody_->is_passed()) return false;
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
        packets_.send(place, comm_);
    }

    /// Starts to receive the messages that are there. Several are received at once, because each would cost the latency
    /// of the network if they came one after the other.
    void receive() {
        for (;;) {
            while (arriving_count_ > 0 && mpi::is_complete(arriving_[oldest_].request))
                take_oldest();
            int there = 0;
            MPI_Status status;
            mpi::check(MPI_Iprobe(MPI_ANY_SOURCE, k_tag_addresses, comm_, &there, &status), "MPI_Iprobe");
            if (there == 0) return;
            if (arriving_count_ == arriving_.size()) take_oldest();
            std::size_t const at = (oldest_ + arriving_count_++) % arriving_.size();
            Arriving& packet = arriving_[at];
            packet.source = status.MPI_SOURCE;
            mpi::check(MPI_Get_count(&status, MPI_UINT64_T, &packet.words), "MPI_Get_count");
            mpi::check(MPI_Irecv(packet_at(at), packet.words, MPI_UINT64_T, packet.source, k_tag_addresses, comm_,
                                 &packet.request),
                       "MPI_Irecv");
        }
    }

    void take_oldest() {
        Arriving& packet = arriving_[oldest_];
        mpi::check(MPI_Wait(&packet.request, MPI_STATUS_IGNORE), "MPI_Wait");
        std::size_t const entries = static_cast<std::size_t>(packet.words) / 2;
        count_ += entries;
        for (std::size_t i = 0; i < entries; ++i)
            register_.accept(packet.source, packet_at(oldest_)[i]);
        oldest_ = (oldest_ + 1) % arriving_.size();
        --arriving_count_;
    }

    Entry* packet_at(std::size_t at) noexcept { return received_.data() + at * packets_.most_entries(); }

    /// A packet on its way into `received_`, which is a ring in the order of arrival.
    struct Arriving {
        MPI_Request request = MPI_REQUEST_NULL;
        int source = -1;
        int words = 0;
    };

    MPI_Comm comm_;
    Register& register_;
    Packets packets_;
    memory::MeteredVector<Arriving> arriving_;
    memory::MeteredVector<Entry> received_;
    std::size_t oldest_ = 0;
    std::size_t arriving_count_ = 0;
    std::optional<groups::NonblockingBarrier> everybody_;
    bool finished_ = false;
    std::uint64_t count_ = 0;
};

/// Sends to and receives from ranks of the node: entries are written directly into the ring, and a packet of another
/// kind ends them.
class RingSide {
  public:
    RingSide(node::Node& node, Register& taken)
        : node_(node),
          rings_(node.rings()),
          register_(taken),
          most_entries_(
              std::max<std::size_t>(1, std::min<std::size_t>(rings_.largest_body() / 2, 32768) / sizeof(Entry))),
          filling_(static_cast<std::size_t>(node.size())) {}

    void send(int local, Entry const& entry) {
        Filling& filling = filling_[static_cast<std::size_t>(local)];
        if (filling.packet == nullptr) filling.packet = reserve(local, most_entries_ * sizeof(Entry));
        std::memcpy(filling.packet + filling.count * sizeof(Entry), &entry, sizeof(Entry));
        if (++filling.count == most_entries_) flush(local);
    }

    void flush_all() {
        for (int local = 0; local < node_.size(); ++local) {
            if (local == node_.rank()) continue;
            flush(local);
            reserve(local, 0);
            rings_.commit(local, k_all_sent, 0, k_pass, 0);
        }
    }

    /// Returns true once all ranks of the node have sent their last entry. `alone`: the caller waits for nothing else,
    /// so this may sleep.
    bool finish(bool alone) {
        if (finished_ == node_.size() - 1) return true;
        node::sleep_unless(rings_, [&] { return receive() || !alone; });
        return finished_ == node_.size() - 1;
    }

    std::uint64_t received() const noexcept { return count_; }

  private:
    enum Kind : std::uint32_t { k_entries = 101, k_all_sent = 102 };
    static constexpr std::uint64_t k_pass = ~std::uint64_t{0};
    static constexpr std::uint32_t k_ahead = 16;

    std::byte* reserve(int local, std::size_t bytes) {
        for (;;) {
            if (std::byte* const packet = rings_.reserve(local, bytes)) return packet;
            node::sleep_unless(rings_, [&] { return receive() || rings_.room(local) >= bytes; });
        }
    }

    void flush(int local) {
        Filling& filling = filling_[static_cast<std::size_t>(local)];
        if (filling.count > 0)
            rings_.commit(local, k_entries, static_cast<std::uint32_t>(filling.count), k_pass,
                          filling.count * sizeof(Entry));
        filling = {};
        receive();
    }

    bool receive() {
        bool any = false;
        for (int local = 0; local < node_.size(); ++local) {
            if (local == node_.rank()) continue;
            while (node::Packet const packet = rings_.peek(local)) {
                if (packet.pass != k_pass) break;
                any = true;
                if (packet.kind == k_all_sent) ++finished_;
                count_ += packet.count;
                auto const entry_at = [&packet](std::uint32_t i) {
                    Entry entry{};
                    std::memcpy(&entry, packet.body.data() + i * sizeof entry, sizeof entry);
                    return entry;
                };
                for (std::uint32_t i = 0; i < packet.count; ++i) {
                    if (i + k_ahead < packet.count) register_.expect(entry_at(i + k_ahead).slot);
                    Entry const entry = entry_at(i);
                    register_.accept(node_.global_of(local), entry);
                }
                rings_.pop(local);
            }
        }
        return any;
    }

    struct Filling {
        std::byte* packet = nullptr;
        std::size_t count = 0;
    };
    node::Node& node_;
    node::NodeRings& rings_;
    Register& register_;
    std::size_t most_entries_;
    std::vector<Filling> filling_;
    int finished_ = 0;
    std::uint64_t count_ = 0;
};

}  // namespace

AddressCounts exchange_addresses(engine::ContextState& context, node::Node* node, std::uint64_t live,
                                 DestinationsFrom const& destinations, AddressMap* inverse, AddressMap* forward,
                                 Bytes staging) {
    std::optional<Register> taken_here;
    std::optional<RingSide> rings;
    std::optional<MessageSide> messages;
    std::optional<Error> fault;
    try {
        taken_here.emplace(inverse, inverse != nullptr ? inverse->size() : forward->size(), context.rank(),
                           context.meter());
        if (node != nullptr && node->has_rings()) rings.emplace(*node, *taken_here);
        if (!rings || node->size() < context.size()) messages.emplace(context, *taken_here, staging / 4);
    } catch (std::bad_alloc const&) {
        fault.emplace(ErrorCode::out_of_memory,
                      "rank " + std::to_string(context.rank()) + " has no memory for the exchange of addresses");
    }
    context.agree_on_no_error(fault);
    Register& taken = *taken_here;

    AddressCounts counts;
    std::array<Entry, 16> staying{};
    int const rank = context.rank();
    int const ranks = context.size();
    auto const tell = [&](std::uint64_t block, Destination const& to) {
        if (to.rank < 0) return;
        if (to.rank >= ranks || to.index < 0)
            throw offence(rank, block, to,
                          to.index < 0 ? "indices start at 0" : "there are " + std::to_string(ranks) + " ranks");
        if (inverse != nullptr) inverse->set_mark(block);
        if (forward != nullptr) forward->set_fresh(block, to);
        Entry const entry{static_cast<std::uint64_t>(to.index), block};
        if (to.rank == rank) {
            // The entry is handled a little later, when its part of the map has come into the cache.
            std::size_t const at = counts.staying++ % staying.size();
            if (counts.staying > staying.size()) taken.accept(rank, staying[at]);
            staying[at] = entry;
            taken.expect(entry.slot);
            return;
        }
        ++counts.outgoing;
        int const local = rings ? node->local_of(to.rank) : -1;
        if (local >= 0) {
            rings->send(local, entry);
        } else {
            ++counts.outgoing_by_message;
            messages->send(to.rank, entry);
        }
    };
    try {
        std::array<Destination, 256> room;
        for (std::uint64_t first = 0; first < live; first += room.size()) {
            auto const wanted = static_cast<std::size_t>(std::min<std::uint64_t>(room.size(), live - first));
            std::uint64_t block = first;
            for (Destination const& to : destinations(first, std::span(room).first(wanted)))
                tell(block++, to);
        }
    } catch (Error const& error) {
        taken.fail(error);  // then goes on: all ranks take part to the end, and all get the error
    } catch (std::exception const& error) {
        taken.fail(Error(ErrorCode::invalid_argument, std::string("the destination function threw: ") + error.what()));
    }
    for (std::size_t i = 0; i < std::min<std::uint64_t>(counts.staying, staying.size()); ++i)
        taken.accept(context.rank(), staying[i]);
    if (rings) rings->flush_all();
    if (messages) messages->flush_all();
    for (bool done = false; !done;) {
        done = !rings || rings->finish(!messages);
        if (messages) done = messages->finish() && done;
    }
    context.agree_on_no_error(taken.error());
    counts.incoming = (rings ? rings->received() : 0) + (messages ? messages->received() : 0);
    return counts;
}

}  // namespace sluice::redistribution
