// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/packed/packed.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <limits>
#include <numeric>

#include "groups/agreement.hpp"
#include "mpi/mpi.hpp"
#include "redistribution/strategies/moving/report_counts.hpp"
#include "redistribution/strategies/moving/step_clock.hpp"

namespace sluice::redistribution {

namespace {

/// Slots of small blocks are brought into the cache this many blocks before they are written.
constexpr std::uint64_t k_slots_ahead = 16;
constexpr std::uint64_t k_most_bytes_ahead = 256;

/// Copies with a size that the compiler knows, for small blocks, for which a call would cost time.
template <std::size_t Fixed>
void copy_fixed(std::byte* to, std::byte const* from, std::uint64_t bytes) noexcept {
    std::memcpy(to, from, Fixed != 0 ? Fixed : bytes);
}

std::uint64_t rounded_up(std::uint64_t bytes) noexcept {
    return (bytes + 63) / 64 * 64;
}

}  // namespace

Packed::Packed(engine::ContextState& context, Blocks const& blocks, std::uint64_t live,
               DestinationsFrom const& destinations)
    : context_(context),
      blocks_(blocks),
      live_(live),
      destinations_(destinations),
      rank_(context.rank()),
      exchange_(context, context.meter()),
      send_counts_(static_cast<std::size_t>(context.size()), 0,
                   memory::MeteredAllocator<std::uint64_t>(context.meter())),
      receive_counts_(send_counts_),
      next_(send_counts_) {}

Bytes Packed::least_copies(std::uint64_t live, std::uint64_t block_bytes) noexcept {
    std::uint64_t const each = block_bytes + sizeof(std::uint32_t);
    return Bytes{live > std::numeric_limits<std::uint64_t>::max() / each ? std::numeric_limits<std::uint64_t>::max()
                                                                         : live * each};
}

/// False if the map has a fault that this rank sees, or a rule threw. Inlined, so that what `visit` counts stays in
/// registers.
template <typename Visit>
[[gnu::always_inline]] inline bool Packed::each(Visit const& visit) const {
    std::array<Destination, 256> room;
    try {
        for (std::uint64_t first = 0; first < live_; first += room.size()) {
            auto const wanted = static_cast<std::size_t>(std::min<std::uint64_t>(room.size(), live_ - first));
            std::uint64_t block = first;
            for (Destination const& to : destinations_(first, std::span(room).first(wanted)))
                if (!visit(block++, to)) return false;
        }
    } catch (std::exception const&) {
        return false;  // the exchange of addresses will meet it again
    }
    return true;
}

bool Packed::count() {
    auto const ranks = static_cast<unsigned>(context_.size());
    std::uint64_t* const counts = send_counts_.data();
    std::uint64_t in_place = 0;
    bool const is_whole = each([&](std::uint64_t block, Destination const& to) {
        if (to.rank < 0) return true;
        if (static_cast<unsigned>(to.rank) >= ranks || to.index < 0) return false;
        ++counts[to.rank];
        in_place += is_in_place(to, block) ? 1 : 0;
        return true;
    });
    in_place_ = in_place;
    return is_whole;
}

void Packed::exchange_counts() {
    auto const me = static_cast<std::size_t>(rank_);
    staying_ = send_counts_[me] - in_place_;
    send_counts_[me] = 0;
    if (has_fault_) {
        std::ranges::fill(send_counts_, 0);
        staying_ = in_place_ = 0;
    }
    mpi::check(
        MPI_Alltoall(send_counts_.data(), 1, MPI_UINT64_T, receive_counts_.data(), 1, MPI_UINT64_T, context_.comm()),
        "MPI_Alltoall");
    outgoing_ = std::accumulate(send_counts_.begin(), send_counts_.end(), std::uint64_t{0});
    incoming_ = std::accumulate(receive_counts_.begin(), receive_counts_.end(), std::uint64_t{0});
    has_fault_ |= incoming_ + staying_ + in_place_ > blocks_.count;
}

/// Returns the bytes of the copies; none for a map with a fault.
Bytes Packed::lay_out(std::uint64_t most_slots) {
    if (has_fault_) return {};
    has_long_indices_ = most_slots > std::numeric_limits<std::uint32_t>::max();
    std::uint64_t const index = has_long_indices_ ? sizeof(std::uint64_t) : sizeof(std::uint32_t);
    std::uint64_t const bytes = blocks_.block_bytes.count;
    indices_out_ = rounded_up((blocks_.count / 64 + 1) * sizeof(std::uint64_t));
    indices_in_ = indices_out_ + rounded_up(outgoing_ * index);
    blocks_out_ = indices_in_ + rounded_up((incoming_ + staying_) * index);
    blocks_in_ = blocks_out_ + rounded_up(outgoing_ * bytes);
    return Bytes{blocks_in_ + (incoming_ + staying_) * bytes};
}

std::optional<Choice> Packed::open(node::Node const& node, Facts facts) {
    has_fault_ = !count();
    exchange_counts();
    Bytes const bytes = lay_out(facts.most_slots);
    auto const sharers = static_cast<std::uint64_t>(node.has_rings() ? node.size() : context_.size());
    auto const partners =
        static_cast<std::uint64_t>(std::ranges::count_if(send_counts_, [](std::uint64_t count) { return count > 0; }));
    groups::Agreement agreement;
    std::uint64_t const& most_moved = agreement.most(std::max(outgoing_, incoming_));
    std::uint64_t const& most_live = agreement.most(std::max(outgoing_, incoming_) + staying_);
    std::uint64_t const& most_partners = agreement.most(partners);
    std::uint64_t const& may_pack = agreement.least(!has_fault_ && has_room(context_, sharers, bytes) ? 1 : 0);
    context_.agree(agreement);
    if (may_pack == 0) return std::nullopt;
    facts.most_moved = facts.all_moved = most_moved;
    facts.most_live = most_live;
    facts.most_partners = most_partners;
    facts.room_for_copies = true;
    Choice choice = choose_form(facts);
    bool const packs = choice.way == Way::alltoallv;
    // Ranks whose floating point differs may choose otherwise: then token.
    groups::Agreement form;
    std::uint64_t const& all_pack = form.least(packs ? 1 : 0);
    std::uint64_t const& all_have_copies = form.least(packs && take_copies(bytes) ? 1 : 0);
    context_.agree(form);
    choice.way = all_pack != 0 ? Way::alltoallv : Way::token;
    return all_pack != 0 && all_have_copies == 0 ? std::nullopt : std::optional(std::move(choice));
}

bool Packed::take_copies(Bytes bytes) {
    auto copies = context_.copies().try_take(bytes);
    if (!copies) return false;
    copies_.emplace(std::move(*copies));
    try {
        use_.emplace(context_.meter(), bytes);
        return true;
    } catch (std::bad_alloc const&) {
        copies_.reset();
        return false;
    }
}

bool Packed::mark(std::uint64_t* taken, std::uint64_t slots, std::uint64_t slot) noexcept {
    if (slot >= slots) return false;
    std::uint64_t& word = taken[slot / 64];
    std::uint64_t const bit = std::uint64_t{1} << (slot % 64);
    bool const is_first = (word & bit) == 0;
    word |= bit;
    return is_first;
}

/// A rule that answers otherwise than before is a fault, too: each block has its place in the copies.
template <typename Index, std::size_t Fixed>
bool Packed::pack() {
    std::uint64_t const bytes = blocks_.block_bytes.count;
    auto const* const data = static_cast<std::byte const*>(blocks_.data);
    std::byte* const out = at<std::byte>(blocks_out_);
    std::byte* const in = at<std::byte>(blocks_in_);
    auto* const indices_out = at<Index>(indices_out_);
    auto* const indices_in = at<Index>(indices_in_);
    std::memset(at<std::byte>(0), 0, indices_out_);
    std::exclusive_scan(send_counts_.begin(), send_counts_.end(), next_.begin(), std::uint64_t{0});
    std::uint64_t* const next = next_.data();
    std::uint64_t const outgoing = outgoing_;
    auto* const taken = at<std::uint64_t>(0);
    std::uint64_t const slots = blocks_.count;
    std::uint64_t stays = incoming_;
    std::uint64_t const stays_end = incoming_ + staying_;
    auto const ranks = static_cast<int>(next_.size());
    int const me = rank_;
    bool const is_whole = each([&](std::uint64_t block, Destination const& to) {
        if (to.rank < 0) return true;
        if (to.rank >= ranks || static_cast<std::uint64_t>(to.index) > std::numeric_limits<Index>::max()) return false;
        if (to.rank == me) {
            if (static_cast<std::uint64_t>(to.index) == block) return mark(taken, slots, block);
            if (stays == stays_end) return false;
            copy_fixed<Fixed>(in + stays * bytes, data + block * bytes, bytes);
            indices_in[stays++] = static_cast<Index>(to.index);
            return true;
        }
        auto const target = static_cast<std::size_t>(to.rank);
        std::uint64_t const place = next[target];
        if (place == outgoing) return false;  // that it is within its part is seen at the end
        next[target] = place + 1;
        copy_fixed<Fixed>(out + place * bytes, data + block * bytes, bytes);
        indices_out[place] = static_cast<Index>(to.index);
        return true;
    });
    std::uint64_t end = 0;
    bool is_as_counted = true;
    for (std::size_t rank = 0; rank < next_.size(); ++rank)
        is_as_counted &= next_[rank] == (end += send_counts_[rank]);
    return is_whole && stays == stays_end && is_as_counted;
}

template <typename Index>
bool Packed::check_indices() {
    std::span<Index const> const indices(at<Index>(indices_in_), incoming_ + staying_);
    auto* const taken = at<std::uint64_t>(0);
    std::uint64_t const slots = blocks_.count;
    bool is_right = true;
    for (Index const index : indices)
        is_right &= mark(taken, slots, index);
    return is_right;
}

template <typename Index, std::size_t Fixed>
void Packed::unpack() {
    std::uint64_t const bytes = blocks_.block_bytes.count;
    auto* const data = static_cast<std::byte*>(blocks_.data);
    std::byte const* const in = at<std::byte>(blocks_in_);
    Index const* const indices = at<Index>(indices_in_);
    std::uint64_t const count = incoming_ + staying_;
    std::uint64_t const looks_ahead = bytes <= k_most_bytes_ahead && count > k_slots_ahead ? count - k_slots_ahead : 0;
    for (std::uint64_t i = 0; i < looks_ahead; ++i) {
        __builtin_prefetch(data + indices[i + k_slots_ahead] * bytes, 1);
        copy_fixed<Fixed>(data + indices[i] * bytes, in + i * bytes, bytes);
    }
    for (std::uint64_t i = looks_ahead; i < count; ++i)
        copy_fixed<Fixed>(data + indices[i] * bytes, in + i * bytes, bytes);
}

template <typename Index, std::size_t Fixed>
bool Packed::move_as(RedistributionReport& report) {
    StepClock clock(report);
    bool is_right = pack<Index, Fixed>();
    clock.step("pack");
    exchange_.run(sizeof(Index), at<std::byte>(indices_out_), send_counts_, at<std::byte>(indices_in_),
                  receive_counts_);
    is_right &= check_indices<Index>();
    is_right = context_.all_true(is_right);
    clock.step("addresses");
    if (!is_right) return false;
    exchange_.run(blocks_.block_bytes.count, at<std::byte>(blocks_out_), send_counts_, at<std::byte>(blocks_in_),
                  receive_counts_);
    clock.step("exchange");
    unpack<Index, Fixed>();
    clock.step("unpack");
    return true;
}

bool Packed::move(RedistributionReport& report) {
    bool const has_moved = [&] {
        if (has_long_indices_) return move_as<std::uint64_t, 0>(report);
        switch (blocks_.block_bytes.count) {
            case 8:
                return move_as<std::uint32_t, 8>(report);
            case 16:
                return move_as<std::uint32_t, 16>(report);
            case 32:
                return move_as<std::uint32_t, 32>(report);
            case 64:
                return move_as<std::uint32_t, 64>(report);
            case 128:
                return move_as<std::uint32_t, 128>(report);
            default:
                return move_as<std::uint32_t, 0>(report);
        }
    }();
    if (!has_moved) return false;
    std::uint64_t const bytes = blocks_.block_bytes.count;
    report.strategy = Strategy::alltoallv;
    report.rounds += 1;
    report.requests_peak = std::max(report.requests_peak, exchange_.requests_peak());
    count_sent(report, outgoing_, bytes);
    count_received(report, incoming_, bytes);
    count_copied(report, outgoing_ + incoming_ + 2 * staying_, bytes);  // each is packed or unpacked
    return true;
}

}  // namespace sluice::redistribution
