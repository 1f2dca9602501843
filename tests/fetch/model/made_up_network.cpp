// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/model/made_up_network.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace sluice::tests::fetch_model {

Network::Network(int ranks, std::uint32_t most_slots, model::Random& random)
    : random_(&random), arrivals_(static_cast<std::size_t>(ranks)) {
    for (int rank = 0; rank < ranks; ++rank)
        wires_.push_back(std::make_unique<RankWire>(*this, rank, ranks, most_slots));
}

void Network::RankWire::send(int peer, fetch::Control const& control, std::string_view text) {
    Message message;
    message.control = control;
    message.text = text;
    network_->lanes_[{rank(), peer}].push_back(std::move(message));
}

bool Network::RankWire::send_data(int peer, std::uint32_t slot, std::span<std::byte const> data, std::uint64_t ticket) {
    bool const leaves_at_once = model::draw_chance(*network_->random_, 0.5);
    std::size_t at = 0;
    do {
        Message message;
        message.is_data = true;
        message.slot = slot;
        std::span<std::byte const> const piece = data.subspan(at, std::min(data.size() - at, k_piece));
        if (leaves_at_once) {
            message.copy.assign(piece.begin(), piece.end());
        } else {
            message.lent = piece;
            message.ticket = ticket + 1;
            ++network_->pieces_left_[{rank(), ticket + 1}];
        }
        network_->lanes_[{rank(), peer}].push_back(std::move(message));
        at += piece.size();
    } while (at < data.size());
    return leaves_at_once;
}

bool Network::RankWire::receive_data(int peer, std::uint32_t slot, std::span<std::byte> to, std::uint32_t number) {
    auto const lane = network_->lanes_.find({peer, rank()});
    if (lane == network_->lanes_.end() || !lane->second.front().is_data || lane->second.front().slot != slot ||
        lane->second.front().bytes().size() != to.size())
        throw std::logic_error("a piece is received that has not arrived");
    Message message = std::move(lane->second.front());
    lane->second.pop_front();
    if (lane->second.empty()) network_->lanes_.erase(lane);
    if (model::draw_chance(*network_->random_, 0.5)) {
        network_->copy_out(peer, message, to);
        return true;
    }
    network_->open_.push_back({peer, rank(), std::move(message), to, number});
    return false;
}

void Network::copy_out(int from, Message const& message, std::span<std::byte> room) {
    std::ranges::copy(message.bytes(), room.begin());
    if (chance_of_wrong_ > 0 && !room.empty() && model::draw_chance(*random_, chance_of_wrong_)) {
        room.back() ^= std::byte{1};
        ++spoiled_;
    }
    if (message.ticket == k_no_ticket) return;
    auto const pieces = pieces_left_.find({from, message.ticket});
    if (--pieces->second > 0) return;
    left_.push_back(pieces->first);
    pieces_left_.erase(pieces);
}

std::size_t Network::steps() const {
    return lanes_.size() + open_.size() + left_.size();
}

bool Network::deliver(Lane const& lane) {
    auto const [from, to] = lane;
    fetch::Arrivals& arrivals = *arrivals_[static_cast<std::size_t>(to)];
    auto const at = lanes_.find(lane);
    if (at->second.front().is_data) {
        std::size_t const bytes = at->second.front().bytes().size();
        return arrivals.data_from(from, at->second.front().slot, bytes);
    }
    Message const message = std::move(at->second.front());
    at->second.pop_front();
    if (at->second.empty()) lanes_.erase(at);
    arrivals.control_from(from, message.control, message.text);
    return true;
}

bool Network::step(std::size_t which) {
    if (which < lanes_.size()) return deliver(std::next(lanes_.begin(), static_cast<std::ptrdiff_t>(which))->first);
    which -= lanes_.size();
    if (which < open_.size()) {
        Open const open = std::move(open_[which]);
        open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(which));
        copy_out(open.from, open.message, open.room);
        arrivals_[static_cast<std::size_t>(open.to)]->data_complete(open.number, open.room.size());
        return true;
    }
    which -= open_.size();
    auto const [rank, ticket] = left_[which];
    left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(which));
    arrivals_[static_cast<std::size_t>(rank)]->sent(ticket - 1);
    return true;
}

}  // namespace sluice::tests::fetch_model
