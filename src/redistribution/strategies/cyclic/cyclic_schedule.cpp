// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/cyclic/cyclic_schedule.hpp"

#include <algorithm>
#include <bit>
#include <new>

#include "groups/agree.hpp"
#include "mpi/mpi.hpp"

namespace sluice::redistribution {

namespace {
int bytes_of(std::size_t count, std::size_t size) noexcept {
    return static_cast<int>(count * size);
}
}  // namespace

/// The root's end of the messages, as the search sees it.
class ScheduleMaker::Root final : public RootPort {
  public:
    Root(ScheduleMaker& maker, BlockOrder const& order, Schedule& schedule)
        : maker_(maker), order_(order), schedule_(schedule) {}

    Edge next_edge(int rank) override {
        if (rank == k_root) return maker_.find_next_edge(order_);
        Queue& queue = maker_.queues_[static_cast<std::size_t>(rank)];
        if (queue.next == queue.size) receive_edges(rank, queue);
        return edges_of(rank)[queue.next++];
    }

    void schedule(int rank, Action const& action) override {
        if (rank == k_root) return maker_.append(action, schedule_);
        std::size_t& count = maker_.waiting_count_[static_cast<std::size_t>(rank)];
        actions_of(rank)[count++] = action;
        if (count == maker_.actions_a_message_) send_actions(rank, k_tag_actions);
    }

    void start(int rank) {
        EdgeHead const head = std::bit_cast<EdgeHead>(*(edges_of(rank) - 1));
        maker_.search_.set(rank, head.degree, head.free);
        maker_.queues_[static_cast<std::size_t>(rank)] = {.next = 0, .size = 0, .unseen = head.degree};
        if (rank != k_root) took_edges(rank, maker_.queues_[static_cast<std::size_t>(rank)]);
    }

    void finish() {
        for (int rank = 0; rank < maker_.context_.size(); ++rank)
            if (rank != k_root) send_actions(rank, k_tag_last_actions);
    }

  private:
    Edge* edges_of(int rank) noexcept {
        return maker_.queued_edges_.data() + static_cast<std::size_t>(rank) * (maker_.edges_a_message_ + 1) + 1;
    }
    Action* actions_of(int rank) noexcept {
        return maker_.waiting_actions_.data() + static_cast<std::size_t>(rank) * maker_.actions_a_message_;
    }

    void receive_edges(int rank, Queue& queue) {
        mpi::check(MPI_Recv(edges_of(rank), bytes_of(maker_.edges_a_message_, sizeof(Edge)), MPI_BYTE, rank,
                            k_tag_edges, maker_.context_.comm(), MPI_STATUS_IGNORE),
                   "MPI_Recv");
        took_edges(rank, queue);
    }

    /// A message of edges has arrived. The next may come while these are used, so that at most one waits for each rank.
    void took_edges(int rank, Queue& queue) {
        queue.next = 0;
        queue.size = static_cast<std::size_t>(std::min<std::uint64_t>(maker_.edges_a_message_, queue.unseen));
        queue.unseen -= queue.size;
        if (queue.unseen > 0)
            mpi::check(MPI_Send(nullptr, 0, MPI_BYTE, rank, k_tag_wish, maker_.context_.comm()), "MPI_Send");
    }

    void send_actions(int rank, Tag tag) {
        std::size_t& count = maker_.waiting_count_[static_cast<std::size_t>(rank)];
        mpi::check(
            MPI_Send(actions_of(rank), bytes_of(count, sizeof(Action)), MPI_BYTE, rank, tag, maker_.context_.comm()),
            "MPI_Send");
        count = 0;
    }

    ScheduleMaker& maker_;
    BlockOrder const& order_;
    Schedule& schedule_;
};

ScheduleMaker::ScheduleMaker(engine::ContextState& context, memory::Meter& meter)
    : context_(context),
      edges_a_message_(static_cast<std::size_t>(
          std::min(context.settings().cyclic_edges, static_cast<std::uint64_t>(std::max(1, context.size() - 1))))),
      actions_a_message_(static_cast<std::size_t>(context.settings().cyclic_actions)),
      edges_(edges_a_message_ + 1, Edge{}, memory::MeteredAllocator<Edge>(meter)),
      actions_(at_root() ? 0 : actions_a_message_, Action{}, memory::MeteredAllocator<Action>(meter)),
      search_(per_rank(), meter),
      queues_(per_rank(), Queue{}, memory::MeteredAllocator<Queue>(meter)),
      queued_edges_(per_rank() * (edges_a_message_ + 1), Edge{}, memory::MeteredAllocator<Edge>(meter)),
      waiting_count_(per_rank(), 0, memory::MeteredAllocator<std::size_t>(meter)),
      waiting_actions_(per_rank() * actions_a_message_, Action{}, memory::MeteredAllocator<Action>(meter)) {}

bool ScheduleMaker::make(BlockOrder const& order, Schedule& schedule) {
    schedule.clear();
    edge_cursor_ = 0;
    is_whole_ = true;
    edges_.front() = std::bit_cast<Edge>(EdgeHead{.degree = degree(order), .free = order.free()});
    if (!at_root()) fill_edges(order);  // the root takes its own edges one by one
    int const message = bytes_of(edges_.size(), sizeof(Edge));
    mpi::check(
        MPI_Gather(edges_.data(), message, MPI_BYTE, queued_edges_.data(), message, MPI_BYTE, k_root, context_.comm()),
        "MPI_Gather");
    if (at_root()) {
        Root root(*this, order, schedule);
        for (int rank = 0; rank < context_.size(); ++rank)
            root.start(rank);
        search_.run(root);
        root.finish();
    } else {
        serve_root(order, schedule);
    }
    return groups::all_true(context_.comm(), is_whole_);
}

std::uint64_t ScheduleMaker::degree(BlockOrder const& order) const noexcept {
    std::uint64_t edges = 0;
    for (int rank = 0; rank < context_.size(); ++rank)
        edges += rank != context_.rank() && order.count(rank) > 0 ? 1 : 0;
    return edges;
}

/// Edges are ordered by increasing destination rank.
Edge ScheduleMaker::find_next_edge(BlockOrder const& order) noexcept {
    while (edge_cursor_ == context_.rank() || order.count(edge_cursor_) == 0)
        ++edge_cursor_;
    int const dest = edge_cursor_++;
    return {.weight = order.count(dest), .dest = dest};
}

/// Puts the next edges into the message; returns their number.
std::size_t ScheduleMaker::fill_edges(BlockOrder const& order) noexcept {
    std::size_t count = 0;
    for (; edge_cursor_ < context_.size() && count < edges_a_message_; ++edge_cursor_)
        if (edge_cursor_ != context_.rank() && order.count(edge_cursor_) > 0)
            edges_[++count] = {.weight = order.count(edge_cursor_), .dest = edge_cursor_};
    return count;
}

/// Goes on serving the root if memory fails; all ranks learn of the failure at the end.
void ScheduleMaker::append(Action const& action, Schedule& schedule) noexcept {
    if (!is_whole_) return;
    try {
        schedule.push_back(action);
    } catch (std::bad_alloc const&) {
        is_whole_ = false;
    }
}

/// Sends edges without waiting until the root takes them: the root may wait for this rank, so this rank must never wait
/// for the root.
void ScheduleMaker::serve_root(BlockOrder const& order, Schedule& schedule) {
    MPI_Request sending = MPI_REQUEST_NULL;
    for (int tag = k_tag_wish; tag != k_tag_last_actions;) {
        MPI_Status status;
        mpi::check(MPI_Recv(actions_.data(), bytes_of(actions_.size(), sizeof(Action)), MPI_BYTE, k_root, MPI_ANY_TAG,
                            context_.comm(), &status),
                   "MPI_Recv");
        tag = status.MPI_TAG;
        if (tag == k_tag_wish) {
            mpi::check(MPI_Wait(&sending, MPI_STATUS_IGNORE), "MPI_Wait");
            std::size_t const count = fill_edges(order);
            mpi::check(MPI_Isend(edges_.data() + 1, bytes_of(count, sizeof(Edge)), MPI_BYTE, k_root, k_tag_edges,
                                 context_.comm(), &sending),
                       "MPI_Isend");
        } else {
            int bytes = 0;
            mpi::check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
            for (std::size_t i = 0; i < static_cast<std::size_t>(bytes) / sizeof(Action); ++i)
                append(actions_[i], schedule);
        }
    }
    mpi::check(MPI_Wait(&sending, MPI_STATUS_IGNORE), "MPI_Wait");
}

}  // namespace sluice::redistribution
