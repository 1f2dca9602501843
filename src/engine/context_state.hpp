// SPDX-License-Identifier: BSD-3-Clause
/// The state of a Context: the private communicator, the ranks that share a node with us, counters.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>

#include "base/counters.hpp"
#include "engine/absences.hpp"
#include "engine/entry.hpp"
#include "engine/process.hpp"
#include "kernel/progress.hpp"
#include "memory/meter.hpp"
#include "memory/staging_pool.hpp"
#include "mpi/mpi.hpp"
#include "node/node.hpp"
#include "node/remote_memory.hpp"
#include "sluice/context.hpp"
#include "sluice/error.hpp"
#include "sluice/settings.hpp"

namespace sluice::groups {
class Agreement;
}

namespace sluice::engine {

/// Lets the budget follow the free memory while the caller waits.
class BudgetLook final : public kernel::Pollable {
  public:
    explicit BudgetLook(Process& process) : process_(&process) {}
    bool poll() override {
        if (++polls_ % k_polls_between_clocks == 0) process_->memory().look_if_due();
        return false;
    }
    void tell_endless(kernel::EndlessWaits& waits) override {
        if (process_->memory().budget().is_waited_for()) waits.may_end();
    }

  private:
    static constexpr unsigned k_polls_between_clocks = 8;
    Process* process_;
    unsigned polls_ = 0;
};

/// Objects that are made on a context share it: it lives as long as the last of them.
class ContextState {
  public:
    ContextState(MPI_Comm comm, Settings settings);
    ~ContextState();
    ContextState(ContextState const&) = delete;
    ContextState& operator=(ContextState const&) = delete;

    /// Returns what a context holds, for the capabilities of the library. Throws Error(invalid_argument) if the context
    /// was moved from.
    static ContextState& of(Context const& context) { return *shared_by(context); }
    /// The same for an object that keeps it.
    static std::shared_ptr<ContextState> const& shared_by(Context const& context);
    /// Another object for the same context, for an object that outlives the program's.
    static Context another_of(Context const& context) { return Context(shared_by(context)); }

    MPI_Comm comm() const noexcept { return comm_.get(); }
    int rank() const noexcept { return rank_; }
    int size() const noexcept { return size_; }
    /// Whether all ranks run on one machine whose kernel lets them name each other's memory; the same on all ranks.
    bool is_one_node() const noexcept { return is_one_node_; }
    /// The least limit that the budget of a rank had when the Context was made; the same on all ranks.
    Bytes least_limit() const noexcept { return least_limit_; }
    Settings const& settings() const noexcept { return settings_; }
    Process& process() noexcept { return *process_; }
    Budget& budget() noexcept { return process_->memory().budget(); }
    /// Which thread is inside a call on this context.
    EntryGuard& guard() noexcept { return guard_; }
    /// For destructors: says once for each process that `object` is destroyed after MPI_Finalize, if it is.
    void tell_if_late(char const* object) noexcept { process_->tell_if_late(object, rank_); }
    base::Counters& counters() noexcept { return counters_; }
    /// The memory that operations on this context allocate. Tests make it fail.
    memory::Meter& meter() noexcept { return meter_; }

    /// Collective. Returns the ranks of this node with rings of `rings` bytes into each rank, made at first use or when
    /// `rings` changes.
    std::shared_ptr<node::Node> node(Bytes rings);
    /// The door to the memory of other ranks of this node, by ranks of `comm`. Does not communicate.
    node::RemoteMemory& remote_memory() noexcept { return remote_memory_; }
    /// The work that progresses while tasks on this context wait.
    kernel::Progress& progress() noexcept { return progress_; }
    /// The staging memory of calls that need little staging and come often.
    memory::StagingPool& staging_pool() noexcept { return staging_pool_; }
    /// The packed copies of redistributions, as large as the data that move.
    memory::StagingPool& copies() noexcept { return copies_; }
    /// Collective: the first step of each collective call but the all-to-alls, which `call` names, a literal. Runs the
    /// agreement, which must be small. A rank that waits long says for whom. Throws Error(invalid_argument) on every
    /// rank if the ranks are in different calls. Another step follows in the call, one of those below: see Absences.
    void meet(char const* call, groups::Agreement& agreement);
    /// The same. If any rank passes an error, every rank throws the error of the lowest such rank.
    void meet(char const* call, std::optional<Error> const& mine);
    /// The error of a rank that has no memory left, not even for the text of a better one. Copies allocate nothing.
    Error const& no_memory() const noexcept { return no_memory_; }
    /// The same with what `for_what()` returns, such as "to announce its parts", if there is memory to say it.
    template <typename Text>
    Error no_memory(Text const& for_what) const {
        try {
            return {ErrorCode::out_of_memory,
                    "rank " + std::to_string(rank_) + " has no memory " + std::string(for_what())};
        } catch (std::bad_alloc const&) {
            return no_memory_;
        }
    }
    /// Which ranks have not entered the call in which this one waits.
    Absences& absences() noexcept { return absences_; }
    /// Collective: a step for a call that has no other one after its first.
    void end_questions() { most_of_all({}); }

    /// Collective: each value becomes its maximum over all ranks. Uses shared memory if all ranks are on one node with
    /// rings: MPI libraries spin in collectives, which is slow with more ranks than cores.
    void most_of_all(std::span<std::uint64_t> values);
    /// Collective. Runs the agreement with most_of_all().
    void agree(groups::Agreement& agreement);
    bool all_true(bool mine);
    /// Collective. If any rank passes an error, every rank throws the error of the lowest such rank.
    void agree_on_no_error(std::optional<Error> const& mine);

    /// The bytes of the rings that are kept from call to call.
    Bytes ring_memory() const noexcept;

  private:
    /// Whether all ranks share a node, whose rings have room for the values of an agreement.
    bool can_share(std::size_t values) const noexcept;

    mpi::Communicator comm_;
    int rank_;
    int size_;
    bool is_one_node_ = false;
    Bytes least_limit_{};
    Error no_memory_;
    Settings settings_;
    std::shared_ptr<Process> process_;
    EntryGuard guard_;
    Absences absences_;
    base::Counters counters_;
    memory::Meter meter_;
    std::shared_ptr<node::Node> node_;
    node::RemoteMemory remote_memory_;
    memory::StagingPool staging_pool_;
    memory::StagingPool copies_;
    kernel::Progress progress_;
    BudgetLook budget_look_;
};

}  // namespace sluice::engine
