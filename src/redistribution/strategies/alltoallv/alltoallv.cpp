// SPDX-License-Identifier: BSD-3-Clause
/// Strategy `alltoallv`: pack, exchange, unpack. Programs do this by hand today, and it is the reference of
/// correctness. Memory: the outgoing and the incoming blocks, and at most 32 bytes for each slot.
#include <algorithm>
#include <numeric>
#include <string>

#include "memory/metered_bytes.hpp"
#include "memory/staging_pool.hpp"
#include "mpi/mpi.hpp"
#include "redistribution/local_moves.hpp"
#include "redistribution/strategies/moving/exchange.hpp"
#include "redistribution/strategies/moving/report_counts.hpp"
#include "redistribution/strategies/moving/step_clock.hpp"
#include "redistribution/strategies/strategy.hpp"

namespace sluice::redistribution {

namespace {

class Alltoallv final : public Mover {
  public:
    explicit Alltoallv(Problem const& problem)
        : problem_(problem),
          copies_(take_copies(problem)),
          use_(problem.meter, Bytes{copies_.bytes().size()}),
          exchange_(problem.context, problem.meter),
          stayers_(problem.slots, problem.meter),
          send_counts_(ranks(), 0, memory::MeteredAllocator<std::uint64_t>(problem.meter)),
          receive_counts_(ranks(), 0, memory::MeteredAllocator<std::uint64_t>(problem.meter)),
          outgoing_slots_(problem.outgoing, 0, memory::MeteredAllocator<std::uint64_t>(problem.meter)),
          outgoing_indices_(problem.outgoing, 0, memory::MeteredAllocator<std::uint64_t>(problem.meter)),
          incoming_indices_(problem.incoming, 0, memory::MeteredAllocator<std::uint64_t>(problem.meter)),
          room_(problem.staying > 0 ? problem.block_bytes : 0, problem.meter),
          packed_(copies_.bytes().data()),
          received_(packed_ + problem.outgoing * problem.block_bytes) {}

    void move(std::byte* data, RedistributionReport& report) override {
        StepClock clock(report);
        if (!addresses_known_) {
            order_outgoing();
            exchange_indices();
            addresses_known_ = true;
            clock.step("addresses");
        }
        pack(data);
        clock.step("pack");
        exchange_.run(problem_.block_bytes, packed_, send_counts_, received_, receive_counts_);
        clock.step("exchange");
        std::uint64_t const local_copies = move_stayers(data);
        unpack(data);
        clock.step("unpack");

        count_sent(report, problem_.outgoing, problem_.block_bytes);
        count_received(report, problem_.incoming, problem_.block_bytes);
        // Each of these blocks is packed or unpacked.
        count_copied(report, local_copies + problem_.outgoing + problem_.incoming, problem_.block_bytes);
        report.rounds += 1;
        report.requests_peak = std::max(report.requests_peak, exchange_.requests_peak());
    }

  private:
    /// The copies are leased like all memory of communication, in addition to the staging that every strategy has. The
    /// context keeps them from call to call.
    static memory::Staging take_copies(Problem const& problem) {
        Bytes const bytes = Bytes{problem.block_bytes} * (problem.outgoing + problem.incoming);
        auto copies = problem.context.copies().try_take(bytes);
        if (!copies)
            throw Error(ErrorCode::out_of_memory, "alltoallv: the copies of " + std::to_string(problem.outgoing) +
                                                      " outgoing and " + std::to_string(problem.incoming) +
                                                      " incoming blocks take " + std::to_string(bytes.count) +
                                                      " bytes, more than the budget has left");
        return std::move(*copies);
    }

    std::size_t ranks() const noexcept { return static_cast<std::size_t>(problem_.context.size()); }

    bool leaves(Destination to) const noexcept { return to.rank >= 0 && to.rank != problem_.context.rank(); }

    /// Lists the outgoing blocks by increasing destination rank.
    void order_outgoing() {
        for (std::uint64_t slot = 0; slot < problem_.slots; ++slot)
            if (Destination const to = (*problem_.forward)[slot]; leaves(to))
                ++send_counts_[static_cast<std::size_t>(to.rank)];
        // receive_counts_ serves as scratch here; its own use comes later.
        std::span<std::uint64_t> const next(receive_counts_.data(), ranks());
        std::exclusive_scan(send_counts_.begin(), send_counts_.end(), next.begin(), std::uint64_t{0});
        for (std::uint64_t slot = 0; slot < problem_.slots; ++slot) {
            Destination const to = (*problem_.forward)[slot];
            if (!leaves(to)) continue;
            std::uint64_t const place = next[static_cast<std::size_t>(to.rank)]++;
            outgoing_slots_[place] = slot;
            outgoing_indices_[place] = static_cast<std::uint64_t>(to.index);
        }
    }

    void exchange_indices() {
        mpi::check(MPI_Alltoall(send_counts_.data(), 1, MPI_UINT64_T, receive_counts_.data(), 1, MPI_UINT64_T,
                                problem_.context.comm()),
                   "MPI_Alltoall");
        exchange_.run(sizeof(std::uint64_t), reinterpret_cast<std::byte const*>(outgoing_indices_.data()), send_counts_,
                      reinterpret_cast<std::byte*>(incoming_indices_.data()), receive_counts_);
    }

    void pack(std::byte const* data) {
        std::byte* to = packed_;
        for (std::uint64_t const slot : outgoing_slots_) {
            std::memcpy(to, data + slot * problem_.block_bytes, problem_.block_bytes);
            to += problem_.block_bytes;
        }
    }

    /// The outgoing blocks are packed already, so their slots may be overwritten.
    std::uint64_t move_stayers(std::byte* data) {
        if (problem_.staying == 0) return 0;
        for (std::uint64_t slot = 0; slot < problem_.slots; ++slot) {
            Destination const to = (*problem_.forward)[slot];
            if (to.rank != problem_.context.rank()) continue;
            if (std::uint64_t const index = static_cast<std::uint64_t>(to.index); index != slot)
                stayers_.add(slot, index);
        }
        BlockArray const blocks{data, problem_.slots, problem_.block_bytes};
        return stayers_.apply(blocks, room_.data(), [](std::uint64_t, std::uint64_t) {});
    }

    void unpack(std::byte* data) {
        std::byte const* from = received_;
        for (std::uint64_t const index : incoming_indices_) {
            std::memcpy(data + index * problem_.block_bytes, from, problem_.block_bytes);
            from += problem_.block_bytes;
        }
    }

    Problem problem_;
    memory::Staging copies_;
    memory::MeteredUse use_;
    Exchange exchange_;
    LocalMoves stayers_;
    memory::MeteredVector<std::uint64_t> send_counts_;
    memory::MeteredVector<std::uint64_t> receive_counts_;
    memory::MeteredVector<std::uint64_t> outgoing_slots_;
    memory::MeteredVector<std::uint64_t> outgoing_indices_;
    memory::MeteredVector<std::uint64_t> incoming_indices_;
    memory::MeteredBytes room_;
    std::byte* packed_;  // both are parts of the copies
    std::byte* received_;
    bool addresses_known_ = false;
};

}  // namespace

std::unique_ptr<Mover> prepare_alltoallv(Problem const& problem) {
    return std::make_unique<Alltoallv>(problem);
}

}  // namespace sluice::redistribution
