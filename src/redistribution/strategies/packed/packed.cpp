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
#include "redistribution/strategies/packed/copy_block.hpp"

namespace sluice::redistribution {

namespace {

/// Slots of small blocks are brought into the cache this many blocks before they are written.
constexpr std::uint64_t k_slots_ahead = 16;
constexpr std::uint64_t k_most_bytes_ahead = 256;

/// From so many bytes on copies leave the caches before they are read again.
constexpr std::uint64_t k_streams_from = 16 << 20;
/// Of the kernel's copies from process to process, which are faster between pages that begin alike.
constexpr std::uint64_t k_page_bytes = 4096;

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t unit) noexcept {
    return (bytes + unit - 1) / unit * unit;
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

/// Order is not counted for small blocks, which are packed in any order.
template <bool CountsOrder>
bool Packed::count_moves() {
    auto const ranks = static_cast<unsigned>(context_.size());
    std::uint64_t* const counts = send_counts_.data();
    int const me = rank_;
    MovesInMap moves;
    bool const is_whole = each([&](std::uint64_t block, Destination const& to) {
        if (to.rank < 0) return true;
        if (static_cast<unsigned>(to.rank) >= ranks || to.index < 0) return false;
        ++counts[to.rank];
        if constexpr (CountsOrder)
            moves.add(me, block, to);
        else
            moves.in_place += MovesInMap::is_in_place(me, block, to) ? 1 : 0;
        return true;
    });
    moves_ = moves;
    return is_whole;
}

bool Packed::count() {
    return blocks_.block_bytes.count > k_most_bytes_ahead ? count_moves<true>() : count_moves<false>();
}

void Packed::exchange_counts() {
    auto const me = static_cast<std::size_t>(rank_);
    staying_ = send_counts_[me] - moves_.in_place;
    send_counts_[me] = 0;
    if (has_fault_) {
        std::ranges::fill(send_counts_, 0);
        staying_ = moves_.in_place = 0;
    }
    mpi::check(
        MPI_Alltoall(send_counts_.data(), 1, MPI_UINT64_T, receive_counts_.data(), 1, MPI_UINT64_T, context_.comm()),
        "MPI_Alltoall");
    outgoing_ = std::accumulate(send_counts_.begin(), send_counts_.end(), std::uint64_t{0});
    incoming_ = std::accumulate(receive_counts_.begin(), receive_counts_.end(), std::uint64_t{0});
    has_fault_ |= incoming_ + staying_ + moves_.in_place > blocks_.count;
}

/// Returns the bytes of the copies; none for a map with a fault.
Bytes Packed::lay_out(std::uint64_t most_slots) {
    if (has_fault_) return {};
    has_long_indices_ = most_slots > std::numeric_limits<std::uint32_t>::max();
    std::uint64_t const index = has_long_indices_ ? sizeof(std::uint64_t) : sizeof(std::uint32_t);
    std::uint64_t const bytes = blocks_.block_bytes.count;
    indices_out_ = rounded_up((blocks_.count / 64 + 1) * sizeof(std::uint64_t), k_streamed_line);
    indices_in_ = indices_out_ + rounded_up(outgoing_ * index, k_streamed_line);
    blocks_out_ = rounded_up(indices_in_ + (incoming_ + staying_) * index, k_page_bytes);
    blocks_in_ = rounded_up(blocks_out_ + outgoing_ * bytes, k_page_bytes);
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
    std::uint64_t const& least_in_order = agreement.least(moves_.share_in_order(outgoing_ + staying_));
    std::uint64_t const& may_pack = agreement.least(!has_fault_ && has_room(context_, sharers, bytes) ? 1 : 0);
    context_.agree(agreement);
    if (may_pack == 0) return std::nullopt;
    facts.most_moved = most_moved;
    std::array<std::uint64_t, 2> sums{outgoing_, outgoing_ + staying_};
    mpi::check(
        MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_UINT64_T, MPI_SUM, context_.comm()),
        "MPI_Allreduce");
    facts.all_moved = sums[0];
    facts.all_live = sums[1];
    facts.most_live = most_live;
    facts.least_in_order = least_in_order;
    facts.most_partners = most_partners;
    facts.room_for_copies = true;
    Choice choice = choose_form(facts);
    bool const packs = choice.way == Way::alltoallv;
    // Ranks whose floating point differs may choose otherwise: then token.
    groups::Agreement form;
    std::uint64_t const& all_pack = form.least(packs ? 1 : 0);
    std::uint64_t const& all_fit = form.least(fits_one_call(facts.block_bytes) ? 1 : 0);
    std::uint64_t const& all_have_copies = form.least(packs && take_copies(bytes) ? 1 : 0);
    context_.agree(form);
    fits_everywhere_ = all_fit != 0;
    choice.way = all_pack != 0 ? Way::alltoallv : Way::token;
    return all_pack != 0 && all_have_copies == 0 ? std::nullopt : std::optional(std::move(choice));
}

bool Packed::fits_one_call(std::uint64_t block_bytes) const {
    return exchange_.fits_one_call(std::max(block_bytes, std::uint64_t{sizeof(std::uint64_t)}), send_counts_,
                                   receive_counts_);
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

template <typename Index>
bool Packed::is_run(std::span<Index const, k_marked_at_once> indices) noexcept {
    bool is_run = true;
    for (std::size_t i = 1; i < indices.size(); ++i)
        is_run &= indices[i] == static_cast<Index>(indices.front() + i);
    return is_run;
}

/// The bits of as many slots from `first` on, which all exist.
bool Packed::mark_run(std::uint64_t* taken, std::uint64_t first) noexcept {
    constexpr std::uint64_t k_bits = (std::uint64_t{1} << k_marked_at_once) - 1;
    std::uint64_t const shift = first % 64;
    std::uint64_t& word = taken[first / 64];
    std::uint64_t const bits = k_bits << shift;
    bool is_first = (word & bits) == 0;
    word |= bits;
    if (shift + k_marked_at_once > 64) {
        std::uint64_t const rest = k_bits >> (64 - shift);
        is_first &= (taken[first / 64 + 1] & rest) == 0;
        taken[first / 64 + 1] |= rest;
    }
    return is_first;
}

/// A rule that answers otherwise than before is a fault, too: each block has its place in the copies.
template <typename Index, typename Copy>
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
            Copy::copy(in + stays * bytes, data + block * bytes, bytes);
            indices_in[stays++] = static_cast<Index>(to.index);
            return true;
        }
        auto const target = static_cast<std::size_t>(to.rank);
        std::uint64_t const place = next[target];
        if (place == outgoing) return false;  // that it is within its part is seen at the end
        next[target] = place + 1;
        Copy::copy(out + place * bytes, data + block * bytes, bytes);
        indices_out[place] = static_cast<Index>(to.index);
        return true;
    });
    Copy::finish();
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
    std::size_t i = 0;
    for (; i + k_marked_at_once <= indices.size(); i += k_marked_at_once) {
        auto const some = indices.subspan(i).template first<k_marked_at_once>();
        if (is_run(some) && some.front() + k_marked_at_once <= slots) {
            is_right &= mark_run(taken, some.front());
            continue;
        }
        for (Index const index : some)
            is_right &= mark(taken, slots, index);
    }
    for (; i < indices.size(); ++i)
        is_right &= mark(taken, slots, indices[i]);
    return is_right;
}

template <typename Index, typename Copy>
void Packed::unpack() {
    std::uint64_t const bytes = blocks_.block_bytes.count;
    auto* const data = static_cast<std::byte*>(blocks_.data);
    std::byte const* const in = at<std::byte>(blocks_in_);
    Index const* const indices = at<Index>(indices_in_);
    std::uint64_t const count = incoming_ + staying_;
    bool const looks_ahead = !Copy::k_streams && bytes <= k_most_bytes_ahead && count > k_slots_ahead;
    std::uint64_t const until = looks_ahead ? count - k_slots_ahead : 0;
    for (std::uint64_t i = 0; i < until; ++i) {
        __builtin_prefetch(data + indices[i + k_slots_ahead] * bytes, 1);
        Copy::copy(data + indices[i] * bytes, in + i * bytes, bytes);
    }
    for (std::uint64_t i = until; i < count; ++i)
        Copy::copy(data + indices[i] * bytes, in + i * bytes, bytes);
    Copy::finish();
}

template <typename Index, typename Pack, typename Unpack>
bool Packed::move_as(RedistributionReport& report) {
    StepClock clock(report);
    bool is_right = pack<Index, Pack>();
    clock.step("pack");
    exchange_.run_agreed(fits_everywhere_, sizeof(Index), at<std::byte>(indices_out_), send_counts_,
                         at<std::byte>(indices_in_), receive_counts_);
    is_right &= check_indices<Index>();
    is_right = context_.all_true(is_right);
    clock.step("addresses");
    if (!is_right) return false;
    exchange_.run_agreed(fits_everywhere_, blocks_.block_bytes.count, at<std::byte>(blocks_out_), send_counts_,
                         at<std::byte>(blocks_in_), receive_counts_);
    clock.step("exchange");
    unpack<Index, Unpack>();
    clock.step("unpack");
    return true;
}

template <std::size_t Fixed>
bool Packed::move_fixed(RedistributionReport& report) {
    using Cached = CachedCopy<Fixed>;
    if constexpr (Fixed % k_streamed_line == 0) {
        using Streamed = StreamedCopy<Fixed>;
        std::uint64_t const bytes = blocks_.block_bytes.count;
        bool const streams =
            bytes % k_streamed_line == 0 && (outgoing_ + incoming_ + staying_) * bytes >= k_streams_from;
        bool const is_aligned = reinterpret_cast<std::uintptr_t>(blocks_.data) % k_streamed_line == 0;
        if (streams && is_aligned) return move_as<std::uint32_t, Streamed, Streamed>(report);
        if (streams) return move_as<std::uint32_t, Streamed, Cached>(report);
    }
    return move_as<std::uint32_t, Cached, Cached>(report);
}

bool Packed::move(RedistributionReport& report) {
    bool const has_moved = [&] {
        if (has_long_indices_) return move_as<std::uint64_t, CachedCopy<0>, CachedCopy<0>>(report);
        switch (blocks_.block_bytes.count) {
            case 8:
                return move_fixed<8>(report);
            case 16:
                return move_fixed<16>(report);
            case 32:
                return move_fixed<32>(report);
            case 64:
                return move_fixed<64>(report);
            case 128:
                return move_fixed<128>(report);
            default:
                return move_fixed<0>(report);
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
