// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/parking/parking.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "mpi/mpi.hpp"
#include "redistribution/strategies/moving/report_counts.hpp"

namespace sluice::redistribution {

// The algorithm always ends. Blocks that have arrived never leave. A process hosts parked blocks only if all its
// incoming blocks are granted, so it never has to park again and each block is parked at most once. Each phase moves a
// block as long as there is a free slot anywhere. Either a process with incoming blocks has a free slot and grants it.
// Or all of these are full: each then has as many blocks to send as to receive, so it has blocks to park, and the
// process with the free slot does not need it.

std::uint64_t apportion_first_fit(std::uint64_t free, int rank, std::span<std::uint64_t const> requests,
                                  std::span<std::uint64_t> grants) noexcept {
    std::uint64_t left = free;
    Pairwise const order{rank, static_cast<int>(requests.size())};
    for (int distance = 1; distance <= order.size; ++distance) {
        auto const source = static_cast<std::size_t>(order.target(distance % order.size));
        grants[source] = std::min(left, requests[source]);
        left -= grants[source];
    }
    return free - left;
}

namespace {

std::uint64_t sum_of(std::span<std::uint64_t const> values) noexcept {
    std::uint64_t sum = 0;
    for (std::uint64_t const value : values)
        sum += value;
    return sum;
}

/// Only a process without a free slot, but with incoming blocks, may get the spare slot.
bool may_get_spare(Problem const& problem) noexcept {
    return problem.incoming > 0 && problem.outgoing + problem.staying == problem.slots;
}

}  // namespace

ParkingPhases::ParkingPhases(Problem const& problem)
    : problem_(problem),
      window_(problem.context.settings().outstanding_requests, problem.meter),
      incoming_(problem.context.comm(), 1, problem.meter),
      outgoing_(problem.context.comm(), static_cast<std::size_t>(problem.context.size()) + 1, problem.meter),
      order_(problem.slots + (may_get_spare(problem) ? 1 : 0), problem.context.size(), problem.context.rank(),
             problem.meter),
      match_(problem.context, problem.meter),
      room_(problem.block_bytes, problem.meter),
      spare_(may_get_spare(problem) ? problem.block_bytes : 0, problem.meter),
      requests_out_(static_cast<std::size_t>(problem.context.size()), 0,
                    memory::MeteredAllocator<std::uint64_t>(problem.meter)),
      requests_in_(requests_out_),
      grants_out_(requests_out_),
      grants_in_(requests_out_),
      ranges_(static_cast<std::size_t>(problem.context.size()) + 1, SlotRange{},
              memory::MeteredAllocator<SlotRange>(problem.meter)) {}

bool ParkingPhases::start(std::byte* data) {
    std::uint64_t const live = problem_.outgoing + problem_.staying;
    std::array<std::uint64_t, 2> sums{problem_.outgoing, problem_.slots - live};
    mpi::check(MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_UINT64_T, MPI_SUM, problem_.context.comm()),
               "MPI_Allreduce");
    int host = may_get_spare(problem_) ? problem_.context.rank() : std::numeric_limits<int>::max();
    mpi::check(MPI_Allreduce(MPI_IN_PLACE, &host, 1, MPI_INT, MPI_MIN, problem_.context.comm()), "MPI_Allreduce");

    bool const anything_moves = sums[0] > 0;
    has_spare_ = anything_moves && sums[1] == 0;
    bool const here = has_spare_ && host == problem_.context.rank();
    blocks_ = {data, problem_.slots, problem_.block_bytes, here ? spare_.data() : nullptr};
    order_.start(*problem_.forward, problem_.slots + (here ? 1 : 0));
    return anything_moves;
}

bool ParkingPhases::run_phase(RedistributionReport& report, StepClock& clock) {
    sort(report);
    clock.step("sort");
    exchange_requests();
    apportion_first_fit(order_.free(), problem_.context.rank(), requests_in_, grants_in_);
    exchange_grants();
    bool const last = match_parking();
    clock.step("agree");
    transfer(report);
    update_order(report);
    clock.step("transfer");
    report.rounds += 1;
    report.requests_peak = std::max(report.requests_peak, window_.peak());
    return !last;
}

void ParkingPhases::sort(RedistributionReport& report) {
    std::uint64_t const copies = order_.sort(blocks_, room_.data());
    count_copied(report, copies, problem_.block_bytes);
}

void ParkingPhases::settle(RedistributionReport& report, StepClock& clock) {
    std::uint64_t const copies = order_.settle(blocks_, room_.data());
    count_copied(report, copies, problem_.block_bytes);
    clock.step("settle");
}

/// "p informs each process q of the number of blocks it has to send to q."
void ParkingPhases::exchange_requests() {
    for (int rank = 0; rank < problem_.context.size(); ++rank)
        requests_out_[static_cast<std::size_t>(rank)] = rank == problem_.context.rank() ? 0 : order_.count(rank);
    mpi::check(MPI_Alltoall(requests_out_.data(), 1, MPI_UINT64_T, requests_in_.data(), 1, MPI_UINT64_T,
                            problem_.context.comm()),
               "MPI_Alltoall");
}

/// "p sends each source a message stating how much of the request will be granted."
void ParkingPhases::exchange_grants() {
    mpi::check(
        MPI_Alltoall(grants_in_.data(), 1, MPI_UINT64_T, grants_out_.data(), 1, MPI_UINT64_T, problem_.context.comm()),
        "MPI_Alltoall");
}

/// "If p does not have enough free space to receive all of its incoming data in the next phase it can temporarily park
/// data on processes with extra free space."
bool ParkingPhases::match_parking() {
    std::uint64_t const incoming = sum_of(requests_in_);
    std::uint64_t const granted = sum_of(grants_in_);
    std::uint64_t const granted_to_us = sum_of(grants_out_);
    std::uint64_t const free_next = order_.free() - granted + granted_to_us;
    std::uint64_t const stays_out = incoming - granted;
    std::uint64_t const short_of = stays_out > free_next ? stays_out - free_next : 0;
    std::uint64_t partners = 0;
    for (std::uint64_t const request : requests_out_)
        partners += request > 0 ? 1 : 0;
    return match_.run({.to_park = std::min(short_of, order_.leaving() - granted_to_us),
                       .extra = stays_out == 0 ? order_.free() - granted : 0,
                       .remaining = stays_out,
                       .granted = granted,
                       .free = free_next,
                       .partners = partners});
}

void ParkingPhases::transfer(RedistributionReport& report) {
    Pairwise const partners{problem_.context.rank(), problem_.context.size()};
    parked_ = {};
    std::uint64_t landing = order_.free_begin();
    for (int distance = 1; distance < partners.size; ++distance) {
        int const source = partners.source(distance);
        int const target = partners.target(distance);
        SlotRange const land{landing, grants_in_[static_cast<std::size_t>(source)] + match_.parked_from(source)};
        landing += land.count;
        incoming_.open(source, std::span(&land, 1), order_.words(), blocks_);
        outgoing_.open(target, outgoing_ranges(target), order_.words(), blocks_);
        post_alternating(incoming_, outgoing_, window_);
    }
    window_.drain();

    std::uint64_t const received = landing - order_.free_begin();
    count_received(report, received, problem_.block_bytes);
}

/// The first blocks for `target`, as many as it granted, and those to be parked there.
std::span<SlotRange const> ParkingPhases::outgoing_ranges(int target) {
    range_count_ = 0;
    if (std::uint64_t const granted = grants_out_[static_cast<std::size_t>(target)]; granted > 0)
        ranges_[range_count_++] = {order_.begin(target), granted};
    take_parked(match_.parked_on(target));
    return {ranges_.data(), range_count_};
}

/// Adds the next `count` blocks without a grant to the ranges.
void ParkingPhases::take_parked(std::uint64_t count) {
    while (count > 0) {
        int const rank = parked_.rank;
        std::uint64_t const granted = grants_out_[static_cast<std::size_t>(rank)];
        std::uint64_t const waiting =
            rank == problem_.context.rank() ? 0 : order_.count(rank) - granted - parked_.taken;
        if (waiting == 0) {
            parked_ = {rank + 1, 0};
            continue;
        }
        std::uint64_t const part = std::min(count, waiting);
        ranges_[range_count_++] = {order_.begin(rank) + granted + parked_.taken, part};
        parked_.taken += part;
        count -= part;
    }
}

/// "The space occupied by the sent data is reclaimed as free."
void ParkingPhases::update_order(RedistributionReport& report) {
    std::uint64_t const landed = sum_of(grants_in_) + [this] {
        std::uint64_t parked = 0;
        for (int rank = 0; rank < problem_.context.size(); ++rank)
            parked += match_.parked_from(rank);
        return parked;
    }();
    std::uint64_t const landing = order_.free_begin();

    range_count_ = 0;  // so that take_parked() lists all parked blocks, which have left
    parked_ = {};
    take_parked(match_.parked_out());
    std::uint64_t sent = match_.parked_out();
    for (std::size_t i = 0; i < range_count_; ++i)
        order_.release(ranges_[i].first, ranges_[i].count);
    for (int rank = 0; rank < problem_.context.size(); ++rank) {
        std::uint64_t const granted = grants_out_[static_cast<std::size_t>(rank)];
        order_.release(order_.begin(rank), granted);
        sent += granted;
    }
    order_.arrived(landing, landed);
    count_sent(report, sent, problem_.block_bytes);
}

namespace {

/// Strategy `parking`.
class Parking final : public Mover {
  public:
    explicit Parking(Problem const& problem) : phases_(problem) {}

    void move(std::byte* data, RedistributionReport& report) override {
        StepClock clock(report);
        if (phases_.start(data))
            while (phases_.run_phase(report, clock)) {
            }
        phases_.settle(report, clock);
    }

  private:
    ParkingPhases phases_;
};

}  // namespace

std::unique_ptr<Mover> prepare_parking(Problem const& problem) {
    return std::make_unique<Parking>(problem);
}

}  // namespace sluice::redistribution
