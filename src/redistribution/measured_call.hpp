// SPDX-License-Identifier: BSD-3-Clause
/// The report of one call: the change of the context's meter and counters between its beginning and its end.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "engine/context_state.hpp"
#include "redistribution/strategies/moving/step_clock.hpp"
#include "sluice/redistribute.hpp"

namespace sluice::redistribution {

class MeasuredCall {
  public:
    /// `held_by_others`: bytes on the meter that do not belong to this call.
    MeasuredCall(engine::ContextState& context, Bytes held_by_others)
        : context_(context), held_by_others_(held_by_others) {
        context.meter().reset_peak();
        for (auto const& [name, value] : context.counters().values())
            counted_before_[std::string(name)] = value;
    }

    void finish(RedistributionReport& report) const {
        report.extra_peak = context_.meter().peak() - held_by_others_ + context_.ring_memory();
        for (auto const& [name, value] : context_.counters().values()) {
            auto const before = counted_before_.find(std::string(name));
            std::uint64_t const earlier = before == counted_before_.end() ? 0 : before->second;
            report.counters.push_back({std::string(name), value - earlier});
        }
    }

  private:
    engine::ContextState& context_;
    Bytes held_by_others_;
    std::map<std::string, std::uint64_t> counted_before_;
};

/// A call and its report, which tells of all that was done from the construction on.
struct ReportedCall {
    ReportedCall(engine::ContextState& context, Bytes held_by_others) : measured(context, held_by_others) {}
    ReportedCall(ReportedCall const&) = delete;
    ReportedCall& operator=(ReportedCall const&) = delete;

    RedistributionReport& finish() {
        measured.finish(report);
        return report;
    }

    MeasuredCall measured;
    RedistributionReport report;
    StepClock clock{report};
};

}  // namespace sluice::redistribution
