// SPDX-License-Identifier: BSD-3-Clause
/// The default strategy: each receiver fetches whenever it has room. token/chain.hpp explains it and why it always
/// ends.
#include <sched.h>

#include <memory>
#include <optional>
#include <string>

#include "engine/patience.hpp"
#include "engine/transports/message.hpp"
#include "engine/transports/node.hpp"
#include "engine/transports/place.hpp"
#include "mpi/mpi.hpp"
#include "node/node.hpp"
#include "redistribution/strategies/moving/report_counts.hpp"
#include "redistribution/strategies/moving/step_clock.hpp"
#include "redistribution/strategies/relay/relay_form.hpp"
#include "redistribution/strategies/strategy.hpp"
#include "redistribution/strategies/token/chain.hpp"
#include "redistribution/strategies/token/scan.hpp"
#include "redistribution/strategies/token/token_form.hpp"
#include "redistribution/strategies/token/token_memory.hpp"
#include "redistribution/strategies/token/waiting.hpp"

namespace sluice::redistribution {

namespace {

int available_cores() {
    cpu_set_t cores;
    return sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

bool is_alone(Problem const& problem) {
    return problem.node == nullptr || !problem.node->has_rings();
}
bool crosses_network(Problem const& problem) {
    return is_alone(problem) || problem.node->size() < problem.context.size();
}

TokenMemory memory_of(Problem const& problem) {
    TokenMemory memory = TokenMemory::of(problem.staging, problem.block_bytes, problem.context.size(),
                                         problem.node == nullptr ? 1 : problem.node->size(), !crosses_network(problem));
    if (problem.places != nullptr) {
        memory.chain.spares = memory.places / 2;
        memory.chain.places = problem.places->place(problem.node->rank(), 0);
    }
    return memory;
}

/// Moves blocks by chain, in places that the ranks of the node share if there are any.
class ChainMover final : public Mover {
  public:
    explicit ChainMover(Problem const& problem)
        : problem_(problem),
          memory_(memory_of(problem)),
          chain_(*problem.inverse, problem.context.rank(), memory_.chain, problem.meter, problem.context.counters(),
                 crosses_network(problem) ? Chain::Visits::spread : Chain::Visits::in_order),
          lanes_(crosses_network(problem) ? VisitOrder::spread(chain_.lanes(), first_lane())
                                          : VisitOrder::in_order(chain_.lanes(), 0)) {
        if (problem.places != nullptr)
            node_ = std::make_unique<engine::PlaceTransport>(*problem.node, *problem.places, memory_.chain.spares,
                                                             problem.meter, problem.context.counters());
        else if (!is_alone(problem))
            node_ = std::make_unique<engine::NodeTransport>(
                *problem.node, memory_.queues, problem.context.settings().read_from,
                problem.context.settings().read_bytes, problem.meter, problem.context.counters());
        if (crosses_network(problem))
            messages_.emplace(problem.context.comm(), memory_.chain.piece_bytes, memory_.messages,
                              problem.context.settings().outstanding_requests, problem.meter,
                              problem.context.counters());
        // A rank with a core of its own may spin about as long as sleeping and waking up would take; a rank that shares
        // its core may not, and a rank that waits for both MPI and the rings can sleep in neither.
        if (!messages_)
            patience_ = engine::Patience(
                {.spins = problem.node->size() <= available_cores() ? 1000U : 20U, .yields = k_yields_before_sleep});
    }

    void move(std::byte* data, RedistributionReport& report) override {
        StepClock clock(report);
        meet(data);
        clock.step("meet");
        std::uint64_t const piece = memory_.chain.piece_bytes;
        for (std::uint64_t offset = 0; offset < problem_.block_bytes; offset += piece, ++report.rounds)
            move_range(data, offset, std::min(piece, problem_.block_bytes - offset));
        clock.step("fetch");
        describe(report);
    }

  private:
    /// The lane of the next rank, so that each rank asks another one first.
    std::uint64_t first_lane() const { return static_cast<std::uint64_t>(problem_.context.rank()) + 1; }

    /// Requests do not say which move they belong to, so no rank may start this one before all have finished the last.
    void meet(std::byte* data) {
        if (node_) node_->expose(data);
        if (messages_) mpi::check(MPI_Barrier(problem_.context.comm()), "MPI_Barrier");
    }

    /// One pass: bytes [offset, offset + bytes) of every block.
    void move_range(std::byte* data, std::uint64_t offset, std::uint64_t bytes) {
        engine::Slots const slots{data, problem_.block_bytes, offset, bytes};
        chain_.begin_pass(slots, problem_.outgoing);
        if (node_) node_->begin_pass(slots, pass_, chain_);
        if (messages_) {
            messages_->begin_pass(slots, pass_, chain_);
            messages_->expect(problem_.outgoing_by_message);
        }
        while (!chain_.finished()) {
            bool moved = progress();
            moved |= chain_.queue_fetches();
            moved |= start_fetches(false);
            if (!moved) moved = start_fetches(true);
            if (moved || !chain_.has_more_to_look_at()) wait_after(moved);
        }
        if (messages_)
            while (messages_->wait()) {
            }
        ++pass_;
    }

    bool progress() {
        bool moved = node_ && node_->progress();
        if (messages_) moved |= messages_->progress();
        return moved;
    }

    engine::Transport& transport_to(int peer) {
        if (node_ && node_->reaches(peer)) return *node_;
        return *messages_;
    }

    /// Hands the collected fetches to their transports; unless `small_batches`, only full batches.
    bool start_fetches(bool small_batches) {
        bool moved = false;
        for (std::size_t looked = 0; looked < chain_.lanes(); ++looked) {
            std::size_t const at = lanes_.next();
            Chain::Lane const& lane = chain_.lane(at);
            if (lane.count == 0) continue;
            engine::Transport& transport = transport_to(lane.source);
            std::size_t const room = transport.room(lane.source);
            std::size_t const n = std::min(lane.count, room);
            if (n == 0 || (!small_batches && n < batch_)) continue;
            transport.start(lane.source, chain_.take(at, n));
            moved = true;
        }
        lanes_.next();
        return moved;
    }

    void wait_after(bool moved) {
        if (node_) {
            patience_.after(moved, [this] {
                node_->sleep();
                return true;
            });
        } else if (!moved) {
            messages_->wait();
        }
    }

    void describe(RedistributionReport& report) {
        count_received(report, problem_.incoming, problem_.block_bytes);
        count_sent(report, problem_.outgoing, problem_.block_bytes);
        Bytes const copied = chain_.take_bytes_copied();
        report.bytes_local += copied;
        report.blocks_local += copied.count / problem_.block_bytes;  // a piece counts as a part of a block
        report.requests_peak = std::max(report.requests_peak, messages_ ? messages_->requests_peak() : 0);
    }

    Problem problem_;
    TokenMemory memory_;
    Chain chain_;
    VisitOrder lanes_;
    std::unique_ptr<engine::NodeWay> node_;
    std::optional<engine::MessageTransport> messages_;
    std::uint64_t pass_ = 0;
    std::size_t batch_ = 4;
    engine::Patience patience_{{}};
};

/// Moves small blocks inside one node, by the scan form, where there is no room for a relay.
class ScanMover final : public Mover {
  public:
    explicit ScanMover(Problem const& problem)
        : problem_(problem), scan_(*problem.node, problem.block_bytes, problem.staging / 2, problem.meter) {
        if (!problem.once) working_.emplace(*problem.forward);
    }

    void move(std::byte* data, RedistributionReport& report) override {
        StepClock clock(report);
        problem_.node->rings().barrier();  // no rank may start before all have finished the last move
        clock.step("meet");
        if (working_) *working_ = *problem_.forward;
        scan_.run(data, working_ ? *working_ : *problem_.forward, problem_.outgoing + problem_.staying,
                  problem_.incoming, pass_++, clock);
        ++report.rounds;
        count_received(report, problem_.incoming, problem_.block_bytes);
        count_sent(report, problem_.outgoing, problem_.block_bytes);
        count_copied(report, scan_.take_blocks_copied(), problem_.block_bytes);
    }

  private:
    Problem problem_;
    Scan scan_;
    std::optional<AddressMap> working_;  // moving overwrites the map, and a plan keeps the original
    std::uint64_t pass_ = 0;
};

}  // namespace

MapNeeds needs_of_token(MapFacts const& facts) {
    if (!facts.block_bytes) return {.forward = scan_is_possible(facts), .inverse = true};
    bool const scan = token_form(facts, *facts.block_bytes) == TokenForm::scan;
    return {.forward = scan, .inverse = !scan};
}

std::unique_ptr<engine::PlaceMemory> share_places(Problem const& problem, bool may_take) {
    if (problem.shared != nullptr || token_form(map_facts(problem), problem.block_bytes) != TokenForm::pool)
        return nullptr;
    TokenMemory const memory = memory_of(problem);
    return engine::PlaceMemory::make(*problem.node, problem.context.process().arrays(),
                                     {memory.chain.piece_bytes, memory.places}, problem.meter, may_take);
}

std::unique_ptr<Mover> prepare_token(Problem const& problem) {
    if (problem.shared != nullptr) return prepare_walk(problem);
    if (problem.places != nullptr) return std::make_unique<ChainMover>(problem);
    // A call that was to take pool has the inverse map alone.
    if (problem.forward != nullptr && token_form(map_facts(problem), problem.block_bytes, false) == TokenForm::scan) {
        if (takes_relay(problem)) return prepare_relay(problem);
        return std::make_unique<ScanMover>(problem);
    }
    return std::make_unique<ChainMover>(problem);
}

}  // namespace sluice::redistribution
