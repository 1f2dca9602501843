// SPDX-License-Identifier: BSD-3-Clause
/// The functions for all-to-alls from one buffer into another.
#include "sluice/alltoall.hpp"

#include <string>

#include "base/units.hpp"
#include "collectives/alltoall/rule.hpp"
#include "collectives/alltoall_call.hpp"
#include "engine/context_state.hpp"

namespace sluice {

using collectives::Blocks;
using collectives::Problem;

namespace {

void* writable(void const* from) noexcept {
    return const_cast<void*>(from);  // Blocks have one type for both sides; those that leave are only read
}

AlltoallOutcome run_once(Context& context, Blocks const& from, Blocks const& to, bool even,
                         AlltoallOptions const& options) {
    engine::ContextState& state = engine::ContextState::of(context);
    engine::Entry const entry(state, "an all-to-all");
    Problem const problem = problem_of(state, from, to, options);
    check_buffers(problem);
    AlltoallAlgorithm const wished = options.algorithm.value_or(state.settings().alltoall);
    AlltoallOutcome outcome = outcome_of(problem);
    run_alltoall(state, problem, granted(wished, facts_of(state, problem, even)), outcome);
    return outcome;
}

void expect_for_each_rank(Context const& context, std::span<std::int64_t const> list, char const* what) {
    if (list.size() != static_cast<std::size_t>(context.size()))
        throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(context.rank()) + ": " +
                                                     std::to_string(list.size()) + " " + what + " for " +
                                                     std::to_string(context.size()) + " ranks");
}

}  // namespace

AlltoallOutcome alltoall(Context& context, void const* from, std::int64_t send_count, MPI_Datatype send_type, void* to,
                         std::int64_t receive_count, MPI_Datatype receive_type, AlltoallOptions const& options) {
    return run_once(context, Blocks::alltoall(writable(from), send_count, send_type),
                    Blocks::alltoall(to, receive_count, receive_type), true, options);
}

AlltoallOutcome alltoallv(Context& context, void const* from, std::span<std::int64_t const> send_counts,
                          std::span<std::int64_t const> send_displacements, MPI_Datatype send_type, void* to,
                          std::span<std::int64_t const> receive_counts,
                          std::span<std::int64_t const> receive_displacements, MPI_Datatype receive_type,
                          AlltoallOptions const& options) {
    expect_for_each_rank(context, send_counts, "counts to send");
    expect_for_each_rank(context, send_displacements, "displacements to send from");
    expect_for_each_rank(context, receive_counts, "counts to receive");
    expect_for_each_rank(context, receive_displacements, "displacements to receive at");
    return run_once(
        context, Blocks::alltoallv(writable(from), send_counts.data(), send_displacements.data(), send_type),
        Blocks::alltoallv(to, receive_counts.data(), receive_displacements.data(), receive_type), false, options);
}

namespace detail {

AlltoallOutcome alltoall_of_arrays(Context& context, std::span<std::byte const> from, std::span<std::byte> to,
                                   Bytes element, AlltoallOptions const& options) {
    auto const ranks = static_cast<std::uint64_t>(context.size());
    std::uint64_t const elements = from.size() / element.count;
    std::string const who = "rank " + std::to_string(context.rank()) + ": ";
    if (from.size() != to.size())
        throw Error(ErrorCode::invalid_argument, who + "an array of " + std::to_string(elements) +
                                                     " elements is sent into one of " +
                                                     std::to_string(to.size() / element.count));
    if (elements % ranks != 0)
        throw Error(ErrorCode::invalid_argument, who + "an array of " + std::to_string(elements) +
                                                     " elements cannot be dealt evenly to " + std::to_string(ranks) +
                                                     " ranks");
    auto const each = static_cast<std::int64_t>(from.size() / ranks);
    return alltoall(context, from.data(), each, MPI_BYTE, to.data(), each, MPI_BYTE, options);
}

}  // namespace detail

std::string AlltoallOutcome::text() const {
    return "exchanged by " + std::string(name_of(algorithm)) + ": " + base::format_bytes(sent) + " sent, " +
           base::format_bytes(received) + " received, " + base::format_bytes(kept) + " kept, " +
           std::to_string(messages) + " messages, " + std::to_string(pulled) + " blocks read from their senders, " +
           base::format_bytes(staging) + " of staging";
}

}  // namespace sluice
