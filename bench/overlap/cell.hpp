// SPDX-License-Identifier: BSD-3-Clause
/// One size of message and one kind of work: all methods in turns, every byte checked.
///
///     rank 1   fill ─barrier─────────── go ──> send ───────────────────────────────barrier
///     rank 0        ─barrier─ | send go, receive, compute, pass over the data | check ─barrier     | … |: measured
///
/// A round begins when the sender is told to go, so the receive is posted before the data leave, whatever the method.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "overlap/calls.hpp"

namespace sluice::bench {

enum class OverlapMethod {
    blocking,  ///< MPI_Recv straight in libmpi, then the work
    irecv,     ///< MPI_Irecv, the work that needs no data, MPI_Wait, the rest
    by_hand,   ///< the same with 200 MPI_Test spread over that work
    strips,    ///< sent and received in strips by hand; each is waited for when the pass comes to it, with tests
               ///< meanwhile
    program,   ///< as blocking, but called as any program calls MPI: what `sluice run` serves
    started,   ///< as irecv, but called as any program calls MPI
    compute,   ///< the work alone, without a message
    transfer   ///< the receive alone, without work
};

enum class OverlapWork {
    independent,  ///< computes for as long as the transfer takes, without the data; then a light pass
    light,        ///< a sum over the data
    heavy         ///< a pass over the data that takes as long as the transfer
};

struct OverlapPlan {
    OverlapWork work = OverlapWork::independent;
    std::size_t bytes = 0;
    int site = 0;     ///< of the receive
    int warm_up = 6;  ///< rounds of `program` and `started` before those that are measured; one of each other method
    int pairs = 7;    ///< rounds in which each method runs once
    std::vector<OverlapMethod> methods;
};

class OverlapCell {
  public:
    /// Allocates the message by malloc.
    OverlapCell(OverlapPlan plan, OverlapCalls const& program, OverlapCalls const& straight);

    /// Collective over two ranks. Calls `tell` on rank 0 after each measured round. Throws std::runtime_error on a rank
    /// that has read, or has in its buffer, a byte that was not sent.
    void measure(std::function<void(OverlapMethod, double seconds)> const& tell);

  private:
    struct Free {
        void operator()(std::byte* bytes) const;
    };

    void calibrate();
    double round(OverlapMethod method);
    void send(OverlapMethod method, OverlapCalls const& calls);
    void receive_and_work(OverlapMethod method, OverlapCalls const& calls);
    void work_by_strips(OverlapCalls const& calls);
    void compute_testing(OverlapCalls const& calls, MPI_Request& request) const;
    void pass(std::span<std::byte const> part);
    void check() const;
    std::span<std::byte> data() const { return {buffer_.get(), plan_.bytes}; }

    OverlapPlan plan_;
    OverlapCalls program_;
    OverlapCalls straight_;
    std::unique_ptr<std::byte, Free> buffer_;
    int rank_ = 0;
    std::uint64_t rounds_ = 0;
    std::uint64_t compute_steps_ = 0;   ///< that need no data
    std::uint64_t steps_a_word_ = 0;    ///< of the pass
    std::optional<std::uint64_t> sum_;  ///< of what the passes of this round have read, if there was one
};

/// The names of a method and of a kind of work, as options and lines have them.
std::string name_of(OverlapMethod method);
std::string name_of(OverlapWork work);

}  // namespace sluice::bench
