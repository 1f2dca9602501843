// SPDX-License-Identifier: BSD-3-Clause
/// An exchange that is made once and done many times: its store, and the shapes that it knows.
///
///     parts stay      one shape, announced when the plan is made; a call begins without a word to other ranks
///     parts change    | shape | shape | … |   the ranks agree at the beginning of a call on one that fits on all of
///                                             them; if there is none, the parts are announced, and replace the oldest
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "engine/context_state.hpp"
#include "exchanges/run.hpp"
#include "exchanges/shape.hpp"
#include "fetch/store_state.hpp"
#include "sluice/exchange.hpp"

namespace sluice::exchanges {

class Planned {
  public:
    /// Allocates what it needs at first; not collective. The ranks must agree that all have it, and then connect() it.
    explicit Planned(Context& context);
    Planned(Planned const&) = delete;
    Planned& operator=(Planned const&) = delete;

    engine::ContextState& context() noexcept { return *context_; }
    /// For tests.
    fetch::StoreState& store() noexcept { return store_; }
    /// Collective.
    void connect();
    bool is_connected() const noexcept { return is_connected_; }
    /// Collective. Each call has parts of these receivers and sizes.
    void keep_to(std::span<OutgoingPart const> parts) { only_.emplace(*context_, parts); }

    /// Collective. `call` is a literal, `fault` what the caller has found wrong with its arguments.
    ExchangeReport apply(char const* call, std::span<OutgoingPart const> parts, Takers const& takers,
                         std::optional<Error> const& fault);
    /// The same for parts on which the ranks have agreed already, once.
    ExchangeReport apply_once(char const* call, std::span<OutgoingPart const> parts, Takers const& takers);
    /// Collective.
    void finish() { store_.finish(); }

  private:
    /// One value of a meeting tells whether a shape does not fit.
    static constexpr std::size_t k_shapes = 8;

    Shape const& agreed_shape(char const* call, Run const& run, std::span<OutgoingPart const> parts);

    Context owner_;
    engine::ContextState* context_;
    fetch::StoreState store_;
    std::optional<Shape> only_;
    std::array<std::optional<Shape>, k_shapes> shapes_;
    std::size_t announced_ = 0;
    std::uint64_t epoch_ = 0;
    bool is_connected_ = false;
    bool is_inside_ = false;
};

}  // namespace sluice::exchanges
