// SPDX-License-Identifier: BSD-3-Clause
/// Ranks tell their partners numbers: how much comes, or where it begins. Cost and memory follow the number of
/// partners.
#pragma once

#include <new>
#include <optional>
#include <string>

#include "engine/context_state.hpp"
#include "engine/sparse/sparse_exchange.hpp"
#include "groups/tags.hpp"
#include "memory/leased.hpp"

namespace sluice::redistribution {

/// What the partners of this rank have told it, one item each, in any order.
template <class Told>
class ToldByPartners {
  public:
    struct Item {
        int source;
        Told told;
    };
    explicit ToldByPartners(engine::ContextState& context)
        : context_(context), items_(memory::LeasedAllocator<Item>(context.budget())) {}

    void accept(int source, Told const& told) {
        try {
            items_.push_back({source, told});
        } catch (std::bad_alloc const&) {
            fault_.emplace(ErrorCode::out_of_memory,
                           "rank " + std::to_string(context_.rank()) + " has no memory for the counts of its partners");
        }
    }
    void expect(Told const&) const noexcept {}

    memory::LeasedVector<Item>& items() noexcept { return items_; }
    std::optional<Error> const& fault() const noexcept { return fault_; }

  private:
    engine::ContextState& context_;
    memory::LeasedVector<Item> items_;
    std::optional<Error> fault_;
};

/// Collective: each rank sends `tell(send)` what it has for others, and gets in `taker` what others have for it.
/// `fault`: what this rank found wrong; every rank throws it. Takes 64 KiB for the packets.
template <class Told, class Tell>
void tell_partners(engine::ContextState& context, ToldByPartners<Told>& taker, std::optional<Error> fault,
                   Tell const& tell) {
    constexpr Bytes k_packets{64 << 10};
    std::optional<engine::SparseExchange<Told, ToldByPartners<Told>>> sparse;
    try {
        if (!fault) sparse.emplace(context, nullptr, taker, k_packets, groups::tags::k_addresses);
    } catch (std::bad_alloc const&) {
        fault.emplace(ErrorCode::out_of_memory,
                      "rank " + std::to_string(context.rank()) + " has no memory to tell its partners of blocks");
    }
    context.agree_on_no_error(fault);
    tell([&](int to, Told const& told) { sparse->send(to, told); });
    sparse->finish();
    context.agree_on_no_error(taker.fault());
}

}  // namespace sluice::redistribution
