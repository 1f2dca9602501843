// SPDX-License-Identifier: BSD-3-Clause
#include "sluice/collectives.hpp"

#include <string>

#include "collectives/inplace_alltoall.hpp"
#include "engine/context_state.hpp"
#include "groups/tags.hpp"

namespace sluice {

using collectives::InplaceAlltoall;
using collectives::InplaceBlocks;

namespace {

AlltoallReport run(Context& context, InplaceBlocks const& blocks) {
    engine::ContextState& state = engine::ContextState::of(context);
    groups::Members members;
    members.comm = state.comm();
    members.rank = state.rank();
    members.size = state.size();
    members.tag = groups::tags::k_collectives.first;
    InplaceAlltoall call({state.peer_access(), state.staging_pool(), state.settings().inplace_staging}, members,
                         blocks);
    call.finish();
    if (call.fault()) throw *call.fault();
    return call.report();
}

template <typename T>
void expect_one_each(Context const& context, std::span<T const> list, char const* what) {
    if (list.size() != static_cast<std::size_t>(context.size()))
        throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(context.rank()) + ": " +
                                                     std::to_string(list.size()) + " " + what + " for " +
                                                     std::to_string(context.size()) + " ranks");
}

}  // namespace

AlltoallReport alltoall_in_place(Context& context, void* buffer, std::int64_t count, MPI_Datatype type) {
    return run(context, InplaceBlocks::alltoall(buffer, count, type));
}

AlltoallReport alltoallv_in_place(Context& context, void* buffer, std::span<std::int64_t const> counts,
                                  std::span<std::int64_t const> displacements, MPI_Datatype type) {
    expect_one_each(context, counts, "counts");
    expect_one_each(context, displacements, "displacements");
    return run(context, InplaceBlocks::alltoallv(buffer, counts.data(), displacements.data(), type));
}

AlltoallReport alltoallw_in_place(Context& context, void* buffer, std::span<std::int64_t const> counts,
                                  std::span<std::int64_t const> displacements, std::span<MPI_Datatype const> types) {
    expect_one_each(context, counts, "counts");
    expect_one_each(context, displacements, "displacements");
    expect_one_each(context, types, "datatypes");
    return run(context, InplaceBlocks::alltoallw(buffer, counts.data(), displacements.data(), types.data()));
}

}  // namespace sluice
