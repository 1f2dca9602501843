// SPDX-License-Identifier: BSD-3-Clause
/// One exchange over a store that was made before it. Each part is a publication with one reader:
///
///     publish ──> (the ranks agree that all parts are right) ──> fetch ──> take ──> freed
///                                                                 ^ under tokens     │
///                  returns <── nothing of this rank is published or under way <── all ranks have their parts
///
/// It ends because a store does (docs/proofs/exchange.md).
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>

#include "engine/context_state.hpp"
#include "exchanges/shape.hpp"
#include "fetch/store_state.hpp"
#include "sluice/exchange.hpp"

namespace sluice::exchanges {

/// What takes the parts that come; one of both is null.
struct Takers {
    PartTaker const* callback = nullptr;
    PartTask const* task = nullptr;

    explicit operator bool() const noexcept {
        return callback != nullptr ? static_cast<bool>(*callback) : static_cast<bool>(*task);
    }
};

/// Returns what is wrong with the parts of this rank. A plan that only learns their sizes needs no data.
enum class Needs { data, sizes };
std::optional<Error> fault_of_parts(engine::ContextState const& context, std::span<OutgoingPart const> parts,
                                    Needs needs);

Error fault_of_takers(engine::ContextState const& context);

class Run {
  public:
    /// `epoch` is one that the store has not had. `call` is a literal.
    Run(Context& context, fetch::StoreState& store, std::uint64_t epoch, char const* call,
        std::span<OutgoingPart const> parts, Takers const& takers);
    ~Run();
    Run(Run const&) = delete;
    Run& operator=(Run const&) = delete;

    /// Checks and publishes the parts, which is nothing that another rank notices. Keeps a fault.
    void publish();
    /// What this rank could not do by itself; nothing has been published then.
    std::optional<Error> const& fault() const noexcept { return fault_; }
    void refuse(Error const& fault);

    /// Collective. Throws what all ranks agree on, or what a taker threw on this rank.
    ExchangeReport exchange(Shape const& shape);

  private:
    /// How well an error tells what happened. Ranks throw the best.
    enum class Tells : std::uint64_t { nothing, of_a_part, of_a_call };

    void publish(OutgoingPart const& part, std::uint64_t number);
    void fetch_with_callbacks();
    void fetch_in_tasks();
    Task fetch_and_take(Arrival const& arrival);
    void post(std::shared_ptr<fetch::FetchSet> const& set);
    std::shared_ptr<fetch::FetchSet> set_of(Arrival const& arrival) const;
    void give(Arrival const& arrival, FetchResult part, std::exception_ptr const& error);
    void count(Arrival const& arrival);
    void note(std::exception_ptr const& error);
    Error fault_of(std::exception const& other) const;
    void withdraw();
    bool poll();
    template <typename Over>
    void wait_until(Over const& over);
    void end();
    ExchangeReport report();

    Context* owner_;
    engine::ContextState* context_;
    fetch::StoreState* store_;
    std::uint64_t epoch_;
    char const* call_;
    std::span<OutgoingPart const> parts_;
    Takers takers_;
    std::span<Arrival const> arrivals_;
    std::uint64_t published_ = 0;  // the first parts of the list are
    std::uint64_t open_ = 0;
    std::uint64_t beyond_before_ = 0;
    std::optional<Error> fault_;
    Tells tells_ = Tells::nothing;
    std::exception_ptr thrown_;
    ExchangeReport report_;
};

}  // namespace sluice::exchanges
