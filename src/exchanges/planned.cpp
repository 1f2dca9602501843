// SPDX-License-Identifier: BSD-3-Clause
#include "exchanges/planned.hpp"

#include <string>

#include "groups/agreement.hpp"
#include "kernel/progress.hpp"
#include "sluice/error.hpp"

namespace sluice::exchanges {

Planned::Planned(Context& context)
    : owner_(engine::ContextState::another_of(context)), context_(&engine::ContextState::of(owner_)), store_(owner_) {}

void Planned::connect() {
    store_.connect();
    is_connected_ = true;
}

ExchangeReport Planned::apply(char const* call, std::span<OutgoingPart const> parts, Takers const& takers,
                              std::optional<Error> const& fault) {
    if (is_inside_)
        throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(context_->rank()) + " calls " + call +
                                                     " from inside a function that takes or produces parts of that "
                                                     "plan");
    kernel::Polling const inside(is_inside_);
    Run run(owner_, store_, ++epoch_, call, parts, takers);
    if (fault)
        run.refuse(*fault);
    else
        run.publish();
    if (!only_) return run.exchange(agreed_shape(call, run, parts));
    if (!run.fault() && !only_->fits(parts))
        run.refuse({ErrorCode::invalid_argument,
                    "rank " + std::to_string(context_->rank()) +
                        ": the parts have other receivers or sizes than those that the plan was made for"});
    return run.exchange(*only_);
}

ExchangeReport Planned::apply_once(char const* call, std::span<OutgoingPart const> parts, Takers const& takers) {
    Run run(owner_, store_, ++epoch_, call, parts, takers);
    run.publish();
    keep_to(parts);
    return run.exchange(*only_);
}

/// Collective. Throws the fault of the lowest rank that has one.
Shape const& Planned::agreed_shape(char const* call, Run const& run, std::span<OutgoingPart const> parts) {
    groups::Agreement agreement;
    std::uint64_t const& any_fault = agreement.most(run.fault() ? 1 : 0);
    std::array<std::uint64_t const*, k_shapes> misfits;
    for (std::size_t i = 0; i < k_shapes; ++i)
        misfits[i] = &agreement.most(shapes_[i] && shapes_[i]->fits(parts) ? 0 : 1);
    context_->meet(call, agreement);  // the step that must follow is the end of the run
    if (any_fault != 0) context_->agree_on_no_error(run.fault());
    for (std::size_t i = 0; i < k_shapes; ++i)
        if (*misfits[i] == 0) return *shapes_[i];
    std::optional<Shape>& place = shapes_[announced_++ % k_shapes];
    place.reset();
    return place.emplace(*context_, parts);
}

}  // namespace sluice::exchanges
