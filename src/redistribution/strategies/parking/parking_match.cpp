// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/parking/parking_match.hpp"

#include <algorithm>
#include <limits>

#include "mpi/mpi.hpp"
#include "sluice/error.hpp"

namespace sluice::redistribution {

std::size_t match_parking_at_root(std::span<ParkingOffer> offers, std::span<ParkingPair> pairs) noexcept {
    std::size_t count = 0;
    std::size_t host = 0;
    for (std::size_t from = 0; from < offers.size(); ++from) {
        while (offers[from].to_park > 0) {
            while (host < offers.size() && offers[host].extra == 0)
                ++host;
            if (host == offers.size()) return count;
            std::uint64_t const blocks = std::min(offers[from].to_park, offers[host].extra);
            offers[from].to_park -= blocks;
            offers[host].extra -= blocks;
            pairs[count++] = {static_cast<int>(from), static_cast<int>(host), blocks};
        }
    }
    return count;
}

ParkingOutlook outlook_of(std::span<ParkingOffer const> offers) noexcept {
    ParkingOutlook outlook;
    outlook.least_free = std::numeric_limits<std::uint64_t>::max();
    for (ParkingOffer const& offer : offers) {
        outlook.all_remaining += offer.remaining;
        outlook.most_remaining = std::max(outlook.most_remaining, offer.remaining);
        outlook.all_free += offer.free;
        outlook.most_partners = std::max(outlook.most_partners, offer.partners);
        outlook.all_granted += offer.granted;
        if (offer.remaining == 0) continue;
        std::uint64_t const landings = std::max<std::uint64_t>(1, offer.free);
        outlook.least_free = std::min(outlook.least_free, offer.free);
        outlook.most_phases = std::max(outlook.most_phases, (offer.remaining - 1) / landings + 1);
    }
    return outlook;
}

// Each pair uses up a process that parks or a host, and no process is both, so there are fewer pairs than ranks.
ParkingMatch::ParkingMatch(engine::ContextState& context, memory::Meter& meter)
    : context_(context),
      out_(static_cast<std::size_t>(context.size()), 0, memory::MeteredAllocator<std::uint64_t>(meter)),
      in_(static_cast<std::size_t>(context.size()), 0, memory::MeteredAllocator<std::uint64_t>(meter)),
      instructions_(static_cast<std::size_t>(context.size()), Instruction{},
                    memory::MeteredAllocator<Instruction>(meter)),
      offers_(at_root() ? out_.size() : 0, ParkingOffer{}, memory::MeteredAllocator<ParkingOffer>(meter)),
      pairs_(offers_.size(), ParkingPair{}, memory::MeteredAllocator<ParkingPair>(meter)),
      all_instructions_(2 * offers_.size(), Instruction{}, memory::MeteredAllocator<Instruction>(meter)),
      heads_(offers_.size(), Head{}, memory::MeteredAllocator<Head>(meter)),
      byte_counts_(offers_.size(), 0, memory::MeteredAllocator<int>(meter)),
      byte_displacements_(offers_.size(), 0, memory::MeteredAllocator<int>(meter)) {}

bool ParkingMatch::run(ParkingOffer const& mine) {
    MPI_Comm const comm = context_.comm();
    int const offer_bytes = static_cast<int>(sizeof(ParkingOffer));
    mpi::check(MPI_Gather(&mine, offer_bytes, MPI_BYTE, offers_.data(), offer_bytes, MPI_BYTE, k_root, comm),
               "MPI_Gather");
    if (at_root()) {
        outlook_ = outlook_of(offers_);
        std::size_t const pairs = prepare_instructions();
        Verdict const verdict = outlook_.all_remaining == 0               ? Verdict::last_phase
                                : outlook_.all_granted == 0 && pairs == 0 ? Verdict::stuck
                                                                          : Verdict::go_on;
        for (Head& head : heads_) {
            head.anybody_parks = pairs > 0 ? 1 : 0;
            head.verdict = static_cast<int>(verdict);
        }
    }
    Head head{};
    int const head_bytes = static_cast<int>(sizeof(Head));
    mpi::check(MPI_Scatter(heads_.data(), head_bytes, MPI_BYTE, &head, head_bytes, MPI_BYTE, k_root, comm),
               "MPI_Scatter");
    if (head.verdict ==
        static_cast<int>(Verdict::stuck))  // impossible while there is a free slot, but better than an endless loop
        throw Error(ErrorCode::internal, "parking: a phase in which no rank can receive or park a block");

    std::fill(out_.begin(), out_.end(), std::uint64_t{0});
    std::fill(in_.begin(), in_.end(), std::uint64_t{0});
    total_out_ = 0;
    if (head.anybody_parks != 0) {
        mpi::check(MPI_Scatterv(all_instructions_.data(), byte_counts_.data(), byte_displacements_.data(), MPI_BYTE,
                                instructions_.data(), head.instructions * static_cast<int>(sizeof(Instruction)),
                                MPI_BYTE, k_root, comm),
                   "MPI_Scatterv");
        for (int i = 0; i < head.instructions; ++i) {
            Instruction const& line = instructions_[static_cast<std::size_t>(i)];
            (line.gives != 0 ? out_ : in_)[static_cast<std::size_t>(line.peer)] += line.count;
            if (line.gives != 0) total_out_ += line.count;
        }
    }
    return head.verdict == static_cast<int>(Verdict::last_phase);
}

std::size_t ParkingMatch::prepare_instructions() {
    std::size_t const count = match_parking_at_root(offers_, pairs_);
    for (Head& head : heads_)
        head.instructions = 0;
    for (std::size_t i = 0; i < count; ++i) {
        ++heads_[static_cast<std::size_t>(pairs_[i].from)].instructions;
        ++heads_[static_cast<std::size_t>(pairs_[i].host)].instructions;
    }
    int const line_bytes = static_cast<int>(sizeof(Instruction));
    int place = 0;
    for (std::size_t rank = 0; rank < heads_.size(); ++rank) {
        byte_displacements_[rank] = place * line_bytes;
        byte_counts_[rank] = 0;
        place += heads_[rank].instructions;
    }
    auto const add = [&](int rank, Instruction const& line) {
        auto const r = static_cast<std::size_t>(rank);
        all_instructions_[static_cast<std::size_t>((byte_displacements_[r] + byte_counts_[r]) / line_bytes)] = line;
        byte_counts_[r] += line_bytes;
    };
    for (std::size_t i = 0; i < count; ++i) {
        add(pairs_[i].from, {pairs_[i].host, 1, pairs_[i].count});
        add(pairs_[i].host, {pairs_[i].from, 0, pairs_[i].count});
    }
    return count;
}

}  // namespace sluice::redistribution
