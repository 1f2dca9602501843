// SPDX-License-Identifier: BSD-3-Clause
/// The context of the C interface.
#pragma once

#include <optional>

#include "c/handle_table.hpp"
#include "engine/context_state.hpp"
#include "sluice/context.hpp"
#include "sluice/error.hpp"

struct sluice_context {
    static constexpr sluice::c::HandleKind k_kind = sluice::c::HandleKind::context;
    sluice::Context context;
};

namespace sluice::c {

/// Collective. If any rank passes a fault, every rank throws the fault of the lowest such rank. `call` names the
/// function for messages.
inline void agree_on_no_error(engine::ContextState& state, std::optional<Error> const& fault, char const* call) {
    engine::Entry const entry(state, call);
    state.meet(call, fault);
}

}  // namespace sluice::c
