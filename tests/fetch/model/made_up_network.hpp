// SPDX-License-Identifier: BSD-3-Clause
/// Ranks in one process that talk without MPI. Messages of one rank to another keep their order, as in MPI; everything
/// else happens in the order in which the test takes the steps.
///
///     send ──> lane (from, to) ──> step: Arrivals are told ──> received at once, or open ──> step: complete
///                                        or the message stays                 the sender's data have left ──> step
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fetch/wire.hpp"
#include "model/problem.hpp"

namespace sluice::tests::fetch_model {

class Network {
  public:
    /// Draws from `random` which data leave at once and which pieces are received at once.
    Network(int ranks, std::uint32_t most_slots, model::Random& random);
    Network(Network const&) = delete;
    Network& operator=(Network const&) = delete;

    fetch::Wire& wire(int rank) { return *wires_[static_cast<std::size_t>(rank)]; }
    /// `arrivals` hears what arrives at `rank`.
    void connect(int rank, fetch::Arrivals& arrivals) { arrivals_[static_cast<std::size_t>(rank)] = &arrivals; }

    /// The steps that are possible now.
    std::size_t steps() const;
    /// Takes one of them; returns false if nothing moved, because the receiver has no memory.
    bool step(std::size_t which);
    bool is_quiet() const { return steps() == 0; }
    void pass(double seconds) { now_ += seconds; }
    /// From now on each piece of data arrives with a wrong byte by this chance.
    void spoil(double chance) { chance_of_wrong_ = chance; }
    std::uint64_t spoiled() const { return spoiled_; }

  private:
    class RankWire final : public fetch::Wire {
      public:
        RankWire(Network& network, int rank, int size, std::uint32_t most_slots)
            : Wire(rank, size, most_slots), network_(&network) {}
        double now() const override { return network_->now_; }
        void send(int peer, fetch::Control const& control, std::string_view text) override;
        bool make_room(std::uint64_t) noexcept override { return true; }
        bool send_data(int peer, std::uint32_t slot, std::span<std::byte const> data, std::uint64_t ticket) override;
        bool receive_data(int peer, std::uint32_t slot, std::span<std::byte> to, std::uint32_t number) override;

      private:
        Network* network_;
    };
    using Lane = std::pair<int, int>;                // from, to
    using Sender = std::pair<int, std::uint64_t>;    // rank, ticket
    static constexpr std::uint64_t k_no_ticket = 0;  // tickets are counted from 1 here
    static constexpr std::size_t k_piece = 700;

    struct Message {
        bool is_data = false;
        fetch::Control control{};
        std::string text{};
        std::uint32_t slot = 0;
        std::vector<std::byte> copy{};       // data that have left already, or
        std::span<std::byte const> lent{};   // data that stay at the sender
        std::uint64_t ticket = k_no_ticket;  // of lent data, plus 1
        std::span<std::byte const> bytes() const { return ticket == k_no_ticket ? std::span(copy) : lent; }
    };
    struct Open {
        int from;
        int to;
        Message message;
        std::span<std::byte> room;
        std::uint32_t number;
    };
    bool deliver(Lane const& lane);
    void copy_out(int from, Message const& message, std::span<std::byte> room);

    model::Random* random_;
    double now_ = 0;
    double chance_of_wrong_ = 0;
    std::uint64_t spoiled_ = 0;
    std::vector<std::unique_ptr<RankWire>> wires_;
    std::vector<fetch::Arrivals*> arrivals_;
    std::map<Lane, std::deque<Message>> lanes_;  // no lane is empty
    std::vector<Open> open_;
    std::map<Sender, int> pieces_left_;
    std::vector<Sender> left_;  // data that have left, of which the sender is not told yet
};

}  // namespace sluice::tests::fetch_model
