// SPDX-License-Identifier: BSD-3-Clause
/// The functions of sluice/c/exchange.h. Errors that only one rank can see are agreed on: first, or by a plan at the
/// end of its call.
#include "sluice/c/exchange.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/c_boundary.hpp"
#include "c/c_context.hpp"
#include "c/c_handles.hpp"
#include "c/c_report.hpp"
#include "exchanges/plan_state.hpp"
#include "sluice/exchange.hpp"

using sluice::base::c_boundary;
using sluice::c::existing;

struct sluice_exchange_plan {
    static constexpr sluice::c::HandleKind k_kind = sluice::c::HandleKind::exchange_plan;
    std::unique_ptr<sluice::ExchangePlan::State> plan;
};

namespace {

sluice::OutgoingPart part_of_c(sluice_outgoing_part const& part, std::size_t number, sluice_produce_function produce,
                               void* user) {
    if (part.data != nullptr || part.bytes == 0)
        return {part.rank, {static_cast<std::byte const*>(part.data), part.bytes}, {}, {}};
    if (produce == nullptr)
        throw sluice::c::invalid("part " + std::to_string(number) + " has no data, and produce is NULL");
    return {part.rank, {}, {part.bytes}, [=](std::span<std::byte> out) {
                if (int const code = produce(user, number, out.data(), out.size()); code != 0)
                    throw sluice::c::invalid("produce returned " + std::to_string(code) + " for part " +
                                             std::to_string(number));
            }};
}

/// What a call is given, in C++.
class GivenParts {
  public:
    GivenParts(std::size_t parts, sluice_outgoing_part const* outgoing, sluice_produce_function produce,
               sluice_take_function take, void* user, sluice_report const* report)
        : fault_(sluice::c::fault_in([&] {
              sluice::c::check_report(report);
              if (take == nullptr) throw sluice::c::invalid("take is NULL");
              if (parts > 0) existing(outgoing, "outgoing");
              list_.reserve(parts);
              for (std::size_t i = 0; i < parts; ++i)
                  list_.push_back(part_of_c(outgoing[i], i, produce, user));
              struct Take {
                  sluice_take_function function;
                  void* user;
                  void operator()(int from, sluice::FetchResult const& part) const {
                      function(user, from, part[0].data(), part[0].size());
                  }
              };
              take_ = Take{take, user};
          })) {}
    std::optional<sluice::Error> const& fault() const noexcept { return fault_; }
    std::span<sluice::OutgoingPart const> list() const noexcept { return list_; }
    sluice::PartTaker const& taker() const noexcept { return take_; }

  private:
    std::vector<sluice::OutgoingPart> list_;
    sluice::PartTaker take_;
    std::optional<sluice::Error> fault_;  // the last, because its initialization fills the others
};

/// Makes a plan after `read` has read what this rank gives.
template <typename Read, typename Make>
int create_exchange_plan(sluice_context* context, sluice_exchange_plan** plan, char const* call, Read const& read,
                         Make const& make) {
    return c_boundary([&] {
        sluice::Context& over = existing(context, "context").context;
        sluice::c::HandleMemory<sluice_exchange_plan> memory;
        std::optional<sluice::Error> const fault = sluice::c::fault_in([&] {
            existing(plan, "plan") = nullptr;
            memory.take();
            read();
        });
        sluice::c::agree_on_no_error(sluice::engine::ContextState::of(over), fault, call);
        *plan = memory.make(make(over));
    });
}

}  // namespace

int sluice_exchange(sluice_context* context, size_t parts, sluice_outgoing_part const* outgoing,
                    sluice_produce_function produce, sluice_take_function take, void* user, sluice_report* report) {
    return c_boundary([&] {
        sluice::Context& over = existing(context, "context").context;
        GivenParts const given(parts, outgoing, produce, take, user, report);
        sluice::c::agree_on_no_error(sluice::engine::ContextState::of(over), given.fault(), "sluice_exchange");
        sluice::c::fill_after(report, sluice::exchange(over, given.list(), given.taker()));
    });
}

int sluice_exchange_plan_create(sluice_context* context, sluice_exchange_plan** plan) {
    return create_exchange_plan(
        context, plan, "sluice_exchange_plan_create", [] {},
        [](sluice::Context& over) { return sluice::exchanges::made_plan(over, std::nullopt); });
}

int sluice_exchange_plan_create_for(sluice_context* context, size_t parts, sluice_outgoing_part const* outgoing,
                                    sluice_exchange_plan** plan) {
    std::vector<sluice::OutgoingPart> list;
    return create_exchange_plan(
        context, plan, "sluice_exchange_plan_create_for",
        [&] {
            if (parts > 0) existing(outgoing, "outgoing");
            list.reserve(parts);
            for (std::size_t i = 0; i < parts; ++i)
                list.push_back({outgoing[i].rank, {}, {outgoing[i].bytes}, {}});
        },
        [&](sluice::Context& over) { return sluice::exchanges::made_plan(over, std::span(std::as_const(list))); });
}

int sluice_exchange_plan_apply(sluice_exchange_plan* plan, size_t parts, sluice_outgoing_part const* outgoing,
                               sluice_produce_function produce, sluice_take_function take, void* user,
                               sluice_report* report) {
    return c_boundary([&] {
        sluice_exchange_plan& over = existing(plan, "plan");
        GivenParts const given(parts, outgoing, produce, take, user, report);
        sluice::c::fill_after(report, over.plan->apply("sluice_exchange_plan_apply", given.list(),
                                                       {&given.taker(), nullptr}, given.fault()));
    });
}

int sluice_exchange_plan_free(sluice_exchange_plan** plan) {
    return sluice::c::free_handle(plan, "plan");
}
