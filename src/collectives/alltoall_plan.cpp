// SPDX-License-Identifier: BSD-3-Clause
/// The all-to-all that is prepared once: what it copies, what the ranks agree on, and its calls.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectives/alltoall/rule.hpp"
#include "collectives/alltoall_call.hpp"
#include "engine/context_state.hpp"
#include "groups/agreement.hpp"
#include "mpi/mpi.hpp"
#include "sluice/alltoall.hpp"

namespace sluice {

using collectives::Blocks;
using collectives::Facts;
using collectives::Problem;

namespace {

/// A copy of a datatype; the caller may free the original.
class KeptType {
  public:
    explicit KeptType(MPI_Datatype type) {
        if (type != MPI_DATATYPE_NULL) mpi::check(MPI_Type_dup(type, &type_), "MPI_Type_dup");
    }
    KeptType(KeptType&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
    KeptType& operator=(KeptType&&) = delete;
    ~KeptType() {
        if (type_ != MPI_DATATYPE_NULL && mpi::is_running()) MPI_Type_free(&type_);
    }
    MPI_Datatype get() const noexcept { return type_; }

  private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// One side of a plan: one count, or a list of counts and displacements.
class KeptSide {
  public:
    KeptSide(std::int64_t count, MPI_Datatype type) : count_(count), type_(type) {}
    KeptSide(std::span<std::int64_t const> counts, std::span<std::int64_t const> places, MPI_Datatype type)
        : counts_(counts.begin(), counts.end()), places_(places.begin(), places.end()), type_(type), is_even_(false) {}

    Blocks at(void* buffer) const {
        return is_even_ ? Blocks::alltoall(buffer, count_, type_.get())
                        : Blocks::alltoallv(buffer, counts_.data(), places_.data(), type_.get());
    }
    bool is_even() const noexcept { return is_even_; }
    /// Returns what is wrong with the lengths of the lists, or nothing.
    std::optional<Error> fault(int rank, int ranks, char const* what) const {
        if (is_even_) return std::nullopt;
        for (std::size_t const length : {counts_.size(), places_.size()})
            if (length != static_cast<std::size_t>(ranks))
                return Error(ErrorCode::invalid_argument, "rank " + std::to_string(rank) + ": a list of " +
                                                              std::to_string(length) + " counts or displacements of " +
                                                              what + " for " + std::to_string(ranks) + " ranks");
        return std::nullopt;
    }

  private:
    std::int64_t count_ = 0;
    std::vector<std::int64_t> counts_;
    std::vector<std::int64_t> places_;
    KeptType type_;
    bool is_even_ = true;
};

}  // namespace

struct AlltoallPlan::State {
    State(Context const& made_on, KeptSide leaving, KeptSide coming, AlltoallOptions const& overrides)
        : owner(engine::ContextState::shared_by(made_on)),
          context(*owner),
          from(std::move(leaving)),
          to(std::move(coming)),
          options(overrides) {}
    ~State() { context.tell_if_late("an AlltoallPlan"); }
    State(State const&) = delete;
    State& operator=(State const&) = delete;

    /// Collective. Finds faults of any rank, and chooses.
    void agree();
    Problem problem(void const* from_buffer, void* to_buffer) {
        return problem_of(context, from.at(const_cast<void*>(from_buffer)), to.at(to_buffer), options);
    }

    std::shared_ptr<engine::ContextState> owner;  // a plan may outlive its Context
    engine::ContextState& context;
    KeptSide from;
    KeptSide to;
    AlltoallOptions options;
    AlltoallAlgorithm algorithm = AlltoallAlgorithm::automatic;

  private:
    std::optional<Error> fault_of_pairs(Problem const& of) const;
};

/// Collective. Each rank tells its peers the bytes of their blocks; returns the first block that is expected otherwise.
std::optional<Error> AlltoallPlan::State::fault_of_pairs(Problem const& of) const {
    auto const ranks = static_cast<std::size_t>(context.size());
    std::vector<std::uint64_t> sent(ranks);
    std::vector<std::uint64_t> announced(ranks);
    for (int member = 0; member < context.size(); ++member)
        sent[static_cast<std::size_t>(member)] = of.bytes_to(member);
    mpi::check(MPI_Alltoall(sent.data(), 1, MPI_UINT64_T, announced.data(), 1, MPI_UINT64_T, context.comm()),
               "MPI_Alltoall");
    for (int member = 0; member < context.size(); ++member) {
        std::uint64_t const theirs = announced[static_cast<std::size_t>(member)];
        if (theirs != of.bytes_from(member))
            return Error(ErrorCode::invalid_argument,
                         "rank " + std::to_string(context.rank()) + " expects " + std::to_string(of.bytes_from(member)) +
                             " bytes from rank " + std::to_string(member) + ", which sends " + std::to_string(theirs));
    }
    return std::nullopt;
}

void AlltoallPlan::State::agree() {
    std::optional<Error> fault = from.fault(context.rank(), context.size(), "blocks that leave");
    if (!fault) fault = to.fault(context.rank(), context.size(), "blocks that come");
    std::optional<Problem> mine;
    try {
        if (!fault) mine = problem(nullptr, nullptr);
    } catch (Error const& error) {
        fault = error;
    }
    AlltoallAlgorithm const wished = options.algorithm.value_or(context.settings().alltoall);
    groups::Agreement first;
    first.fault(fault);
    first.alike("the algorithm of an AlltoallPlan", name_of(wished));
    first.alike("equal blocks (1) or lists of counts (0) of an AlltoallPlan", from.is_even() ? 1 : 0);
    context.meet("AlltoallPlan", first);

    Facts facts = facts_of(context, *mine, from.is_even());
    std::uint64_t largest = 0;
    std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max();
    for (int member = 0; member < context.size(); ++member) {
        largest = std::max(largest, mine->bytes_to(member));
        smallest = std::min(smallest, mine->bytes_to(member));
    }
    groups::Agreement second;
    second.fault(fault_of_pairs(*mine));
    std::uint64_t const& most = second.most(largest);
    std::uint64_t const& least = second.least(smallest);
    std::uint64_t const& narrow = second.least(facts.is_narrow ? 1 : 0);
    context.agree(second);
    facts.is_known = true;
    facts.bytes = most;
    facts.even = most == least;
    facts.is_narrow = narrow != 0;
    algorithm = granted(wished, facts);
}

namespace {

AlltoallPlan::State& existing_alltoall(std::unique_ptr<AlltoallPlan::State> const& state) {
    if (!state)
        throw Error(ErrorCode::invalid_argument,
                    "the AlltoallPlan was moved from: use the object that it was moved to, or make a new one");
    return *state;
}

std::unique_ptr<AlltoallPlan::State> made_plan(Context& context, KeptSide from, KeptSide to,
                                               AlltoallOptions const& options) {
    engine::Entry const entry(engine::ContextState::of(context), "AlltoallPlan");
    auto state = std::make_unique<AlltoallPlan::State>(context, std::move(from), std::move(to), options);
    state->agree();
    return state;
}

}  // namespace

AlltoallPlan::AlltoallPlan(Context& context, std::int64_t send_count, MPI_Datatype send_type,
                           std::int64_t receive_count, MPI_Datatype receive_type, AlltoallOptions const& options)
    : state_(made_plan(context, KeptSide(send_count, send_type), KeptSide(receive_count, receive_type), options)) {}

AlltoallPlan::AlltoallPlan(Context& context, std::span<std::int64_t const> send_counts,
                           std::span<std::int64_t const> send_displacements, MPI_Datatype send_type,
                           std::span<std::int64_t const> receive_counts,
                           std::span<std::int64_t const> receive_displacements, MPI_Datatype receive_type,
                           AlltoallOptions const& options)
    : state_(made_plan(context, KeptSide(send_counts, send_displacements, send_type),
                       KeptSide(receive_counts, receive_displacements, receive_type), options)) {}

AlltoallPlan::~AlltoallPlan() = default;
AlltoallPlan::AlltoallPlan(AlltoallPlan&&) noexcept = default;
AlltoallPlan& AlltoallPlan::operator=(AlltoallPlan&&) noexcept = default;

AlltoallOutcome AlltoallPlan::apply(void const* from, void* to) {
    State& state = existing_alltoall(state_);
    engine::Entry const entry(state.context, "AlltoallPlan::apply");
    Problem const problem = state.problem(from, to);
    check_buffers(problem);
    return run_alltoall(state.context, problem, state.algorithm);
}

AlltoallAlgorithm AlltoallPlan::algorithm() const {
    return existing_alltoall(state_).algorithm;
}

}  // namespace sluice
