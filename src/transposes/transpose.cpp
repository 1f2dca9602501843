// SPDX-License-Identifier: BSD-3-Clause
/// One transpose: checks the arguments, agrees with all ranks, takes staging and exchanges.
#include "sluice/transpose.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "base/units.hpp"
#include "collectives/inplace_alltoall.hpp"
#include "engine/context_state.hpp"
#include "groups/agreement.hpp"
#include "groups/tags.hpp"
#include "kernel/device/device_memory.hpp"
#include "memory/staging_pool.hpp"
#include "transposes/exchange.hpp"
#include "transposes/geometry.hpp"
#include "transposes/in_place.hpp"
#include "transposes/pull.hpp"
#include "transposes/slicing.hpp"

namespace sluice {

namespace {

using transposes::Geometry;
using transposes::Manner;

constexpr transposes::Order k_rows{transposes::k_x, transposes::k_y, transposes::k_z};

Error invalid(std::string const& text) {
    return {ErrorCode::invalid_argument, text};
}

/// The arrays of one call.
struct Arrays {
    std::byte const* from = nullptr;
    std::byte* to = nullptr;
    bool in_place() const noexcept { return from == to; }
};

std::optional<Error> fault_of_wire(ArrayShape const& shape, WireType wire) {
    if (wire == WireType::float_for_double && shape.element.count % sizeof(double) != 0)
        return invalid("elements of " + std::to_string(shape.element.count) +
                       " bytes are not made of doubles, which shall travel as floats");
    return std::nullopt;
}

std::optional<Error> fault_of(Geometry const& geometry, Arrays const& arrays, int rank) {
    auto const had = static_cast<std::uint64_t>(transposes::elements_of(geometry.before()) * geometry.element());
    auto const has = static_cast<std::uint64_t>(transposes::elements_of(geometry.after()) * geometry.element());
    std::string const who = "rank " + std::to_string(rank) + ": ";
    if (arrays.from == nullptr && had > 0)
        return invalid(who + "the array is null and has " + std::to_string(had) + " bytes");
    if (arrays.to == nullptr && has > 0)
        return invalid(who + "the array to write is null and gets " + std::to_string(has) + " bytes");
    bool const overlap = had > 0 && has > 0 && arrays.from < arrays.to + has && arrays.to < arrays.from + had;
    if (overlap && !arrays.in_place()) return invalid(who + "the two arrays overlap, and are not the same");
    if (had > 0)
        if (auto fault = kernel::fault_if_on_device("the array", arrays.from)) return fault;
    return has > 0 ? kernel::fault_if_on_device("the array", arrays.to) : std::nullopt;
}

}  // namespace

/// How one transpose goes. All ranks choose alike, by values on which they have agreed.
enum class Way : std::uint8_t {
    alone,  ///< the group is this rank alone
    swap,   ///< in place, equal parts, one node: members swap blocks
    pull,   ///< into another array, one node: each member reads its part from the others' arrays
    steps,  ///< all others: slice by slice, in messages
};

/// A transpose with all that does not change from call to call. One call makes one for itself.
///
///     made: faults of this rank  ->  meet: ranks compare  ->  prepare: staging on all  ->  move
struct TransposePlan::State {
    State(Context const& made_on, ArrayShape const& shape, ArrayLayout const& before, ArrayLayout const& after,
          TransposeOptions const& options)
        : owner(engine::ContextState::shared_by(made_on)), context(*owner), overrides(options) {
        text = transposes::text_of(shape, before, after) +
               (options.wire == WireType::as_stored ? "" : ", floats for doubles") + ", staging " +
               base::exact_bytes(wished());
        try {
            geometry.emplace(shape, before, after, context.rank(), context.size());
            fault = fault_of_wire(shape, options.wire);
        } catch (Error const& error) {
            fault = error;
        }
    }
    ~State() { context.tell_if_late("a TransposePlan"); }
    State(State const&) = delete;
    State& operator=(State const&) = delete;

    /// Collective.
    void meet(char const* call, std::optional<Arrays> const& arrays);
    /// Collective. Takes the staging, and agrees how much all ranks have. No rank fails after it, but for MPI.
    TransposeReport run(Arrays const& arrays);

    std::shared_ptr<engine::ContextState> owner;  // a plan may outlive its Context
    engine::ContextState& context;
    TransposeOptions overrides;
    std::optional<Geometry> geometry;  // unless the arguments are wrong
    std::optional<Error> fault;

  private:
    Bytes wished() const { return overrides.staging.value_or(context.settings().staging); }
    void prepare();
    Way way_of(Arrays const& arrays) const;
    void move_alone(Arrays const& arrays, TransposeReport& report);
    void swap(std::byte* array, TransposeReport& report);
    void swap_blocks(std::byte* array, std::int64_t bytes, TransposeReport& report);
    void pull(Arrays const& arrays, TransposeReport& report);
    void exchange(Arrays const& arrays, TransposeReport& report);
    void reorder(std::byte* array, transposes::Extents const& extents, transposes::Order const& from,
                 transposes::Order const& to) {
        reorder_in_place(array, extents, from, to, geometry->element(), staging->bytes());
    }

    std::string text;
    std::optional<memory::Staging> staging;
    Bytes staging_of_all;
    bool is_one_node = false;
};

void TransposePlan::State::meet(char const* call, std::optional<Arrays> const& arrays) {
    if (!fault && arrays) fault = fault_of(*geometry, *arrays, context.rank());
    std::string const all = text + (arrays && arrays->in_place() ? ", in place" : "");
    groups::Agreement agreement;
    agreement.fault(std::exchange(fault, std::nullopt));
    agreement.alike("the transpose", std::string_view(all));
    context.meet(call, agreement);
}

void TransposePlan::State::prepare() {
    Bytes const least = transposes::Slicing::least_staging(*geometry, overrides.wire);
    Bytes const wanted = std::clamp(wished(), least, transposes::Slicing::most_staging(*geometry, overrides.wire));
    groups::Agreement agreement;
    try {
        staging.emplace(context.staging_pool().take(wanted, least));
    } catch (std::bad_alloc const&) {
        agreement.fault(Error(ErrorCode::out_of_memory, "rank " + std::to_string(context.rank()) +
                                                            " has no memory for the " + std::to_string(least.count) +
                                                            " bytes of staging that a transpose needs at least"));
    }
    std::uint64_t const& least_of_all = agreement.least(staging ? staging->bytes().size() : 0);
    std::uint64_t const& first_node = agreement.least(context.remote_memory().card().node);
    std::uint64_t const& last_node = agreement.most(context.remote_memory().card().node);
    context.agree(agreement);
    staging_of_all = {least_of_all};
    is_one_node = first_node == last_node && first_node != 0;
}

Way TransposePlan::State::way_of(Arrays const& arrays) const {
    if (geometry->members() == 1) return Way::alone;
    if (!is_one_node || overrides.wire != WireType::as_stored) return Way::steps;
    if (!arrays.in_place()) return Way::pull;
    bool const even = geometry->x().all_equal() && geometry->y().all_equal();
    return even && staging_of_all >= collectives::InplaceAlltoall::k_least_staging ? Way::swap : Way::steps;
}

TransposeReport TransposePlan::State::run(Arrays const& arrays) {
    prepare();
    TransposeReport report;
    report.staging = Bytes{staging->bytes().size()};
    report.in_place = arrays.in_place();
    switch (way_of(arrays)) {
        case Way::alone:
            move_alone(arrays, report);
            break;
        case Way::swap:
            swap(arrays.to, report);
            break;
        case Way::pull:
            pull(arrays, report);
            break;
        case Way::steps:
            exchange(arrays, report);
            break;
    }
    staging.reset();
    return report;
}

void TransposePlan::State::move_alone(Arrays const& arrays, TransposeReport& report) {
    transposes::Extents const extents = geometry->before();
    report.kept = Bytes{static_cast<std::uint64_t>(transposes::elements_of(extents) * geometry->element())};
    if (arrays.in_place()) return reorder(arrays.to, extents, geometry->order_before(), geometry->order_after());
    transposes::copy_box(
        {arrays.to, strides_of(extents, geometry->order_after(), geometry->element())},
        {const_cast<std::byte*>(arrays.from), strides_of(extents, geometry->order_before(), geometry->element())},
        extents, geometry->element());
}

/// Blocks of equal size change places, so all that is left is the order on each rank:
///
///     x, y, z  ->  member, x, y of the member, z  ->  all-to-all in place  ->  all x, y, z
void TransposePlan::State::swap(std::byte* array, TransposeReport& report) {
    transposes::Extents const before = geometry->before();
    reorder(array, before, geometry->order_before(), k_rows);
    auto const members = static_cast<std::int64_t>(geometry->members());
    std::int64_t const run = geometry->y().size(0) * geometry->nz() * geometry->element();
    transposes::transpose_matrix(array, {before[transposes::k_x], members, run}, staging->bytes());
    std::size_t const had = staging->bytes().size();
    staging.reset();  // the all-to-all takes its own from there
    swap_blocks(array, before[transposes::k_x] * run, report);
    staging.emplace(context.staging_pool().take({had}, {had}));  // what is kept there suffices
    reorder(array, geometry->after(), k_rows, geometry->order_after());
}

void TransposePlan::State::swap_blocks(std::byte* array, std::int64_t bytes, TransposeReport& report) {
    groups::Members group;
    group.comm = context.comm();
    group.rank = geometry->me();
    group.size = geometry->members();
    group.tag = groups::tags::k_transposes.first;
    group.in_comm = groups::StridedRanks{geometry->rank_of(0), geometry->rank_of(1) - geometry->rank_of(0)};
    Bytes const for_swaps = std::min({context.settings().inplace_staging, staging_of_all});
    collectives::InplaceAlltoall call({context.remote_memory(), context.staging_pool(), for_swaps}, group,
                                      collectives::InplaceBlocks::alltoall(array, bytes, MPI_BYTE));
    call.finish();
    if (call.fault()) throw *call.fault();
    report.sent = report.received = call.report().exchanged;
    report.swapped = call.report().pairs_swapped;
    report.kept = Bytes{static_cast<std::uint64_t>(bytes)};
    report.steps = 1;
}

void TransposePlan::State::pull(Arrays const& arrays, TransposeReport& report) {
    transposes::Pull pull(*geometry, context.remote_memory(), {context.comm(), groups::tags::k_transposes.first},
                          staging->bytes(), report);
    std::array<std::uint64_t, 1> failed{pull.run(arrays.from, arrays.to) ? 0U : 1U};
    context.most_of_all(failed);  // nor does any rank return before all have read what they need
    if (failed[0] == 0) return;
    TransposeReport const pulled = std::exchange(report, TransposeReport{});
    report.staging = pulled.staging;
    exchange(arrays, report);
}

void TransposePlan::State::exchange(Arrays const& arrays, TransposeReport& report) {
    Manner const manner{.in_place = arrays.in_place(), .wire = overrides.wire};
    transposes::Slicing const slicing(*geometry, manner, staging_of_all);
    std::span<std::byte> const scratch = staging->bytes();
    transposes::Exchange exchange(*geometry, manner, slicing, {context.comm(), groups::tags::k_transposes.first},
                                  scratch, report);
    bool const by_rows = arrays.in_place() && !slicing.is_along_z();
    transposes::Order const order = cell_order(*geometry, manner, slicing);
    if (by_rows) reorder(arrays.to, geometry->before(), geometry->order_before(), k_rows);
    try {
        if (arrays.in_place())
            exchange.run_in_place(arrays.to);
        else
            exchange.run(arrays.from, arrays.to);
    } catch (...) {
        if (exchange.has_open()) staging->abandon();  // MPI may still write to it
        throw;
    }
    if (!by_rows) return;
    sort_cells(arrays.to, *geometry, slicing, order, scratch);
    reorder(arrays.to, geometry->after(), order, geometry->order_after());
}

TransposeReport transpose(Context& context, ArrayShape const& shape, ArrayLayout const& before,
                          ArrayLayout const& after, void const* from, void* to, TransposeOptions const& options) {
    engine::Entry const entry(engine::ContextState::of(context), "transpose");
    Arrays const arrays{static_cast<std::byte const*>(from), static_cast<std::byte*>(to)};
    TransposePlan::State once(context, shape, before, after, options);
    once.meet("transpose", arrays);
    return once.run(arrays);
}

TransposeReport transpose(Context& context, ArrayShape const& shape, ArrayLayout const& before,
                          ArrayLayout const& after, void* array, TransposeOptions const& options) {
    return transpose(context, shape, before, after, array, array, options);
}

std::string TransposeReport::text() const {
    return std::string(in_place ? "transposed in place: " : "transposed: ") + base::format_bytes(sent) + " sent, " +
           base::format_bytes(received) + " received, " + base::format_bytes(kept) + " kept, in " +
           std::to_string(steps) + " steps and " + std::to_string(messages) + " messages, " +
           base::format_bytes(staging) + " of staging";
}

namespace {

/// Throws Error(invalid_argument) if the plan was moved from.
TransposePlan::State& existing_plan(std::unique_ptr<TransposePlan::State> const& state) {
    if (!state)
        throw invalid("the TransposePlan was moved from: use the object that it was moved to, or make a new one");
    return *state;
}

}  // namespace

TransposePlan::TransposePlan(Context& context, ArrayShape const& shape, ArrayLayout const& before,
                             ArrayLayout const& after, TransposeOptions const& options) {
    engine::Entry const entry(engine::ContextState::of(context), "TransposePlan");
    auto state = std::make_unique<State>(context, shape, before, after, options);
    state->meet("TransposePlan", std::nullopt);
    state->context.end_questions();
    state_ = std::move(state);
}

TransposePlan::~TransposePlan() = default;
TransposePlan::TransposePlan(TransposePlan&&) noexcept = default;
TransposePlan& TransposePlan::operator=(TransposePlan&&) noexcept = default;

TransposeReport TransposePlan::apply(void const* from, void* to) {
    State& state = existing_plan(state_);
    engine::Entry const entry(state.context, "TransposePlan::apply");
    Arrays const arrays{static_cast<std::byte const*>(from), static_cast<std::byte*>(to)};
    state.meet("TransposePlan::apply", arrays);
    return state.run(arrays);
}

TransposeReport TransposePlan::apply(void* array) {
    return apply(array, array);
}

}  // namespace sluice
