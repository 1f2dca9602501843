// SPDX-License-Identifier: BSD-3-Clause
#include "sluice/collectives.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "collectives/device_blocks.hpp"
#include "collectives/inplace_alltoall.hpp"
#include "engine/context_state.hpp"
#include "groups/tags.hpp"
#include "mpi/mpi.hpp"

namespace sluice {

using collectives::InplaceAlltoall;
using collectives::InplaceBlocks;

namespace {

/// MPI would end the program for a null datatype, and a block of a predefined type is never at address 0.
void check(engine::ContextState const& state, InplaceBlocks const& blocks) {
    auto const refuse = [&](std::string const& text) {
        throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(state.rank()) + ": " + text);
    };
    if (blocks.types == nullptr) {
        if (blocks.type == MPI_DATATYPE_NULL) refuse("the datatype of an all-to-all in place is MPI_DATATYPE_NULL");
    } else {
        for (int member = 0; member < state.size(); ++member)
            if (blocks.types[member] == MPI_DATATYPE_NULL && blocks.counts.at(member) != 0)
                refuse("the datatype of an all-to-all in place for rank " + std::to_string(member) +
                       " is MPI_DATATYPE_NULL");
    }
    if (blocks.buffer != nullptr || blocks.layout != InplaceBlocks::Layout::in_order || blocks.counts.at(0) <= 0)
        return;
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = MPI_COMBINER_NAMED;
    mpi::check(MPI_Type_get_envelope(blocks.type, &integers, &addresses, &types, &combiner), "MPI_Type_get_envelope");
    if (combiner == MPI_COMBINER_NAMED)
        refuse("the buffer is NULL, the count is " + std::to_string(blocks.counts.at(0)));
}

/// Each pair is an exchange of its own, so a rank knows whose blocks have not begun to come.
void tell_silent(engine::Absences& absences, InplaceAlltoall const& call) {
    std::array<int, InplaceAlltoall::k_most_pairs> members{};
    std::size_t const count = call.silent_members(members);
    if (count == 0) return;
    std::string ranks;
    for (int const member : std::span(members).first(count))
        ranks += (ranks.empty() ? "" : ", ") + ("rank " + std::to_string(member));
    absences.tell((count == 1
                       ? " for 1 rank that has not begun its exchange with it: "
                       : " for " + std::to_string(count) + " ranks that have not begun their exchange with it: ") +
                  ranks);
}

AlltoallReport run(Context& context, InplaceBlocks const& blocks) {
    engine::ContextState& state = engine::ContextState::of(context);
    engine::Entry const entry(state, "an all-to-all in place");
    check(state, blocks);
    groups::Members members;
    members.comm = state.comm();
    members.rank = state.rank();
    members.size = state.size();
    members.tag = groups::tags::k_collectives.first;
    if (char const* const library = collectives::device_of(blocks, members.rank, members.size); library != nullptr)
        throw Error(
            ErrorCode::invalid_argument,
            "rank " + std::to_string(members.rank) + ": the buffer is memory of a device (" + library +
                " says so), and Sluice moves memory of the host only: call MPI_Alltoall, or copy it to the host "
                "first");
    InplaceAlltoall call({state.remote_memory(), state.staging_pool(), state.settings().inplace_staging}, members,
                         blocks);
    engine::Absences& absences = state.absences();
    engine::Absences::Wait const wait(absences, "an all-to-all in place");
    call.finish([&] {
        if (absences.is_due()) tell_silent(absences, call);
    });
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
    engine::Entry const entry(engine::ContextState::of(context), "alltoallv_in_place");
    ElementType const type(element);
    return alltoallv_in_place(context, array.data(), counts, displacements, type.get());
}

}  // namespace detail

}  // namespace sluice
