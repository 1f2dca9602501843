// SPDX-License-Identifier: BSD-3-Clause
#include "sluice/collectives.hpp"

#include <string>

#include "collectives/inplace_alltoall.hpp"
#include "engine/context_state.hpp"
#include "groups/tags.hpp"
#include "mpi/mpi.hpp"

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
    InplaceAlltoall call({state.remote_memory(), state.staging_pool(), state.settings().inplace_staging}, members,
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

namespace detail {

namespace {

/// A datatype of as many bytes as one element has.
class ElementType {
  public:
    explicit ElementType(Bytes element) {
        mpi::check(MPI_Type_contiguous(static_cast<int>(element.count), MPI_BYTE, &type_), "MPI_Type_contiguous");
        mpi::check(MPI_Type_commit(&type_), "MPI_Type_commit");
    }
    ElementType(ElementType const&) = delete;
    ElementType& operator=(ElementType const&) = delete;
    ~ElementType() { MPI_Type_free(&type_); }
    MPI_Datatype get() const noexcept { return type_; }

  private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

Error invalid(Context const& context, std::string const& text) {
    return {ErrorCode::invalid_argument, "rank " + std::to_string(context.rank()) + ": " + text};
}

}  // namespace

AlltoallReport alltoall_of_bytes(Context& context, std::span<std::byte> array, Bytes element) {
    std::uint64_t const elements = array.size() / element.count;
    auto const ranks = static_cast<std::uint64_t>(context.size());
    if (elements % ranks != 0)
        throw invalid(context, "an array of " + std::to_string(elements) + " elements cannot be dealt evenly to " +
                                   std::to_string(ranks) + " ranks");
    return alltoall_in_place(context, array.data(), static_cast<std::int64_t>(array.size() / ranks), MPI_BYTE);
}

AlltoallReport alltoallv_of_bytes(Context& context, std::span<std::byte> array, Bytes element,
                                  std::span<std::int64_t const> counts, std::span<std::int64_t const> displacements) {
    expect_one_each(context, counts, "counts");
    expect_one_each(context, displacements, "displacements");
    auto const elements = static_cast<std::int64_t>(array.size() / element.count);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] <= 0) continue;  // an empty block is nowhere, and a negative count is refused below
        if (displacements[i] < 0 || displacements[i] > elements || counts[i] > elements - displacements[i])
            throw invalid(context, "the block for rank " + std::to_string(i) + ", " + std::to_string(counts[i]) +
                                       " elements from " + std::to_string(displacements[i]) +
                                       ", is not within the array of " + std::to_string(elements));
    }
    ElementType const type(element);
    return alltoallv_in_place(context, array.data(), counts, displacements, type.get());
}

}  // namespace detail

}  // namespace sluice
