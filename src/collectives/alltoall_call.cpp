// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/alltoall_call.hpp"

#include <unistd.h>

#include <limits>
#include <string>

#include "collectives/device_blocks.hpp"
#include "mpi/mpi.hpp"
#include "sluice/error.hpp"

namespace sluice::collectives {

namespace {

[[noreturn]] void refuse_of(Problem const& problem, std::string const& text) {
    throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(problem.rank) + ": " + text);
}

std::uint64_t element_of(Problem const& problem, MPI_Datatype type, char const* what) {
    if (type == MPI_DATATYPE_NULL)
        refuse_of(problem, std::string("the datatype of an all-to-all for ") + what + " is MPI_DATATYPE_NULL");
    int size = 0;
    mpi::check(MPI_Type_size(type, &size), "MPI_Type_size");
    return static_cast<std::uint64_t>(size);
}

void check_counts(Problem const& problem) {
    for (int member = 0; member < problem.size; ++member) {
        for (std::int64_t const count : {problem.from.counts.at(member), problem.to.counts.at(member)})
            if (count < 0)
                refuse_of(problem, "the count for rank " + std::to_string(member) + " is " + std::to_string(count));
        if (problem.from.layout == Blocks::Layout::in_order) return;  // one count for all
    }
}

bool is_narrow(Blocks const& blocks, int size) {
    constexpr std::int64_t k_most = std::numeric_limits<int>::max();
    if (blocks.layout == Blocks::Layout::in_order) return blocks.counts.at(0) <= k_most;
    for (int member = 0; member < size; ++member) {
        std::int64_t const place = blocks.displacements.at(member);
        if (blocks.counts.at(member) > k_most || place > k_most || place < -k_most) return false;
    }
    return true;
}

void check_side(Problem const& problem, Blocks const& side, char const* what) {
    if (side.buffer == nullptr && is_predefined(side.type)) {
        for (int member = 0; member < problem.size; ++member)
            if (side.counts.at(member) > 0)
                refuse_of(problem, std::string("the buffer ") + what + " is NULL, the count for rank " +
                                       std::to_string(member) + " is " + std::to_string(side.counts.at(member)));
    }
}

/// The MPI's own call may know how to move memory of a device; the others do not.
void check_is_on_host(Problem const& problem, Blocks const& side, char const* what) {
    if (char const* const library = device_of(side, problem.rank, problem.size); library != nullptr)
        refuse_of(problem, std::string("the buffer ") + what + " is memory of a device (" + library +
                               " says so), and Sluice moves memory of the host only: call MPI_Alltoall, or copy it to "
                               "the host first");
}

/// Whether ranks that wait need not offer their processors to each other.
bool has_a_processor_each(engine::ContextState const& state) {
    static long const processors = sysconf(_SC_NPROCESSORS_ONLN);
    return state.is_one_node() && state.size() <= processors;
}

std::int64_t extent_of(MPI_Datatype type) {
    MPI_Aint low = 0;
    MPI_Aint extent = 0;
    mpi::check(MPI_Type_get_extent(type, &low, &extent), "MPI_Type_get_extent");
    return extent;
}

}  // namespace

bool is_predefined(MPI_Datatype type) {
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = MPI_COMBINER_NAMED;
    mpi::check(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner), "MPI_Type_get_envelope");
    return combiner == MPI_COMBINER_NAMED;
}

Problem problem_of(engine::ContextState& state, Blocks const& from, Blocks const& to, AlltoallOptions const& options) {
    Problem problem;
    problem.comm = state.comm();
    problem.rank = state.rank();
    problem.size = state.size();
    problem.from = from;
    problem.to = to;
    problem.from_element = element_of(problem, from.type, "blocks that leave");
    problem.to_element = element_of(problem, to.type, "blocks that come");
    problem.from_extent = extent_of(from.type);
    problem.to_extent = extent_of(to.type);
    problem.peers = &state.remote_memory();
    problem.budget = &state.budget();
    problem.absences = &state.absences();
    problem.spins = has_a_processor_each(state) ? k_looks_with_processor : k_looks_without;
    problem.window = options.window.value_or(state.settings().alltoall_window);
    check_counts(problem);
    int const me = problem.rank;
    if (problem.bytes_to(me) != problem.bytes_from(me))
        refuse_of(problem, "its block for itself has " + std::to_string(problem.bytes_to(me)) +
                               " bytes where it is sent, and " + std::to_string(problem.bytes_from(me)) +
                               " where it is received");
    return problem;
}

void check_buffers(Problem const& problem) {
    check_side(problem, problem.from, "to send from");
    check_side(problem, problem.to, "to receive into");
    if (problem.from.buffer != problem.to.buffer || problem.from.buffer == nullptr) return;
    if (problem.bytes_to(problem.rank) > 0 && problem.from.layout == Blocks::Layout::in_order)
        refuse_of(problem, "an all-to-all has one buffer for both sides: call alltoall_in_place");
}

Facts facts_of(engine::ContextState const& state, Problem const& problem, bool even) {
    Facts facts;
    facts.ranks = problem.size;
    facts.even = even;
    facts.is_known = even;
    facts.bytes = even ? problem.bytes_to(0) : 0;
    facts.is_narrow = is_narrow(problem.from, problem.size) && is_narrow(problem.to, problem.size);
    // Bytes are equal on all ranks, counts are not; a count is at most the bytes.
    if (even) facts.is_narrow = facts.bytes <= static_cast<std::uint64_t>(std::numeric_limits<int>::max());
    facts.one_node = state.is_one_node();
    facts.room = state.least_limit().count;
    return facts;
}

AlltoallOutcome outcome_of(Problem const& problem) {
    AlltoallOutcome outcome;
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    for (int member = 0; member < problem.size; ++member) {
        if (member == problem.rank) continue;
        sent += problem.bytes_to(member);
        received += problem.bytes_from(member);
    }
    outcome.sent = Bytes{sent};
    outcome.received = Bytes{received};
    return outcome;
}

void run_alltoall(engine::ContextState& state, Problem const& problem, AlltoallAlgorithm algorithm,
                  AlltoallOutcome& outcome) {
    outcome.algorithm = algorithm;
    if (algorithm == AlltoallAlgorithm::plain) return run_plain(problem, outcome);
    check_is_on_host(problem, problem.from, "to send from");
    check_is_on_host(problem, problem.to, "to receive into");
    engine::Absences::Wait const wait(state.absences(), "an all-to-all");
    algorithm_entry(algorithm).run(problem, outcome);
}

}  // namespace sluice::collectives
