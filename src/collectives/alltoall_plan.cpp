// SPDX-License-Identifier: BSD-3-Clause
/// The all-to-all that is prepared once: what it copies, what the ranks agree on, and its calls.
#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "collectives/alltoall/rule.hpp"
#include "collectives/alltoall/trials.hpp"
#include "collectives/alltoall_call.hpp"
#include "collectives/kept_side.hpp"
#include "engine/context_state.hpp"
#include "groups/agreement.hpp"
#include "mpi/mpi.hpp"
#include "sluice/alltoall.hpp"

namespace sluice {

using collectives::Blocks;
using collectives::Facts;
using collectives::KeptSide;
using collectives::Problem;

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

    /// What is wrong with the arguments of this rank. Takes all memory that a plan needs.
    std::optional<Error> fault_of_arguments();
    /// Collective, after the ranks have found no fault. Compares sizes, and chooses.
    void agree(AlltoallAlgorithm wished);
    /// Collective. One call: by the algorithm that was chosen, or by the next that is tried.
    AlltoallOutcome apply(void const* from_buffer, void* to_buffer);

    std::shared_ptr<engine::ContextState> owner;  // a plan may outlive its Context
    engine::ContextState& context;
    KeptSide from;
    KeptSide to;
    AlltoallOptions options;
    AlltoallAlgorithm algorithm = AlltoallAlgorithm::automatic;
    std::optional<collectives::Trials> trials;  // as long as the plan tries

  private:
    std::optional<Error> fault_of_pairs();

    Problem problem;                   // all but the buffers
    std::vector<std::uint64_t> sizes;  // of the blocks that leave, then of those that were announced; only in agree()
    AlltoallOutcome known;             // the bytes of every call
};

/// Collective. Each rank tells its peers the bytes of their blocks; returns the first block that is expected otherwise.
std::optional<Error> AlltoallPlan::State::fault_of_pairs() {
    std::span<std::uint64_t> const sent = std::span(sizes).first(sizes.size() / 2);
    std::span<std::uint64_t> const announced = std::span(sizes).last(sizes.size() / 2);
    for (int member = 0; member < context.size(); ++member)
        sent[static_cast<std::size_t>(member)] = problem.bytes_to(member);
    mpi::check(MPI_Alltoall(sent.data(), 1, MPI_UINT64_T, announced.data(), 1, MPI_UINT64_T, context.comm()),
               "MPI_Alltoall");
    for (int member = 0; member < context.size(); ++member) {
        std::uint64_t const theirs = announced[static_cast<std::size_t>(member)];
        if (theirs != problem.bytes_from(member))
            return Error(ErrorCode::invalid_argument, "rank " + std::to_string(context.rank()) + " expects " +
                                                          std::to_string(problem.bytes_from(member)) +
                                                          " bytes from rank " + std::to_string(member) +
                                                          ", which sends " + std::to_string(theirs));
    }
    return std::nullopt;
}

std::optional<Error> AlltoallPlan::State::fault_of_arguments() {
    std::optional<Error> fault = from.fault(context.rank(), context.size(), "blocks that leave");
    if (!fault) fault = to.fault(context.rank(), context.size(), "blocks that come");
    if (fault) return fault;
    sizes.resize(2 * static_cast<std::size_t>(context.size()));
    problem = problem_of(context, from.at(nullptr), to.at(nullptr), options);
    return std::nullopt;
}

void AlltoallPlan::State::agree(AlltoallAlgorithm wished) {
    Facts facts = facts_of(context, problem, from.is_even());
    std::uint64_t largest = 0;
    std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max();
    for (int member = 0; member < context.size(); ++member) {
        largest = std::max(largest, problem.bytes_to(member));
        smallest = std::min(smallest, problem.bytes_to(member));
    }
    groups::Agreement second;
    second.fault(fault_of_pairs());
    std::uint64_t const& most = second.most(largest);
    std::uint64_t const& least = second.least(smallest);
    std::uint64_t const& narrow = second.least(facts.is_narrow ? 1 : 0);
    context.agree(second);
    facts.is_known = true;
    facts.has_lists = !from.is_even();
    facts.bytes = most;
    facts.even = most == least;
    facts.is_narrow = narrow != 0;
    if (wished == AlltoallAlgorithm::measured) trials.emplace(facts);
    known = outcome_of(problem);
    algorithm = trials ? wished : granted(wished, facts);
    sizes = {};
}

AlltoallOutcome AlltoallPlan::State::apply(void const* from_buffer, void* to_buffer) {
    Problem call = problem;
    call.from.buffer = const_cast<void*>(from_buffer);
    call.to.buffer = to_buffer;
    check_buffers(call);
    AlltoallOutcome outcome = known;
    if (!trials) {
        run_alltoall(context, call, algorithm, outcome);
        return outcome;
    }
    double const begin = MPI_Wtime();
    run_alltoall(context, call, trials->next(), outcome);
    if (trials->take(MPI_Wtime() - begin)) {
        algorithm = trials->decide([this](std::span<std::uint64_t> values) { context.most_of_all(values); });
        trials.reset();
    }
    return outcome;
}

namespace {

AlltoallPlan::State& existing_alltoall(std::unique_ptr<AlltoallPlan::State> const& state) {
    if (!state)
        throw Error(ErrorCode::invalid_argument,
                    "the AlltoallPlan was moved from: use the object that it was moved to, or make a new one");
    return *state;
}

/// `make` makes the state.
template <typename Make>
std::unique_ptr<AlltoallPlan::State> made_plan(Context& made_on, bool is_even, AlltoallOptions const& options,
                                               Make const& make) {
    engine::ContextState& context = engine::ContextState::of(made_on);
    engine::Entry const entry(context, "AlltoallPlan");
    std::unique_ptr<AlltoallPlan::State> state;
    std::optional<Error> fault;
    try {
        state = make();
        fault = state->fault_of_arguments();
    } catch (Error const& error) {
        fault = error;
    } catch (std::bad_alloc const&) {
        fault.emplace(ErrorCode::out_of_memory, "there is no memory for an AlltoallPlan");
    }
    AlltoallAlgorithm const wished = options.algorithm.value_or(context.settings().alltoall);
    groups::Agreement first;
    first.fault(fault);
    first.alike("the algorithm of an AlltoallPlan", name_of(wished));
    first.alike("equal blocks (1) or lists of counts (0) of an AlltoallPlan", is_even ? 1 : 0);
    context.meet("AlltoallPlan", first);
    state->agree(wished);
    return state;
}

}  // namespace

AlltoallPlan::AlltoallPlan(Context& context, std::int64_t send_count, MPI_Datatype send_type,
                           std::int64_t receive_count, MPI_Datatype receive_type, AlltoallOptions const& options)
    : state_(made_plan(context, true, options, [&] {
          return std::make_unique<State>(context, KeptSide(send_count, send_type),
                                         KeptSide(receive_count, receive_type), options);
      })) {}

AlltoallPlan::AlltoallPlan(Context& context, std::span<std::int64_t const> send_counts,
                           std::span<std::int64_t const> send_displacements, MPI_Datatype send_type,
                           std::span<std::int64_t const> receive_counts,
                           std::span<std::int64_t const> receive_displacements, MPI_Datatype receive_type,
                           AlltoallOptions const& options)
    : state_(made_plan(context, false, options, [&] {
          return std::make_unique<State>(context, KeptSide(send_counts, send_displacements, send_type),
                                         KeptSide(receive_counts, receive_displacements, receive_type), options);
      })) {}

AlltoallPlan::~AlltoallPlan() = default;
AlltoallPlan::AlltoallPlan(AlltoallPlan&&) noexcept = default;
AlltoallPlan& AlltoallPlan::operator=(AlltoallPlan&&) noexcept = default;

AlltoallOutcome AlltoallPlan::apply(void const* from, void* to) {
    State& state = existing_alltoall(state_);
    engine::Entry const entry(state.context, "AlltoallPlan::apply");
    return state.apply(from, to);
}

AlltoallAlgorithm AlltoallPlan::algorithm() const {
    return existing_alltoall(state_).algorithm;
}

}  // namespace sluice
