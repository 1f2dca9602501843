// SPDX-License-Identifier: BSD-3-Clause
// The schemes whose helper registers ahead and gives back.
#include <algorithm>
#include <map>
#include <stdexcept>

#include "memory/registration/cache.hpp"
#include "memory/registration/helper.hpp"
#include "memory/registration/predict/context_predictor.hpp"
#include "memory/registration/predict/periodicity_predictor.hpp"
#include "registration/scheme.hpp"

namespace sluice::bench {

using registration::Cache;
using registration::ContextPredictor;
using registration::Costs;
using registration::Event;
using registration::Helper;
using registration::Use;
using registration::What;

namespace {

constexpr Time k_write_event{50};
constexpr registration::StepCosts k_steps{Time(2000), Time(500), Time(500)};
constexpr std::size_t k_periodicity_window = 64;

/// As measure_costs() does it at start.
Costs costs_of(registration::CostLaw const& law) {
    registration::CountingRegistrar model(law);
    return registration::measure_costs(model, 256, k_steps);
}

std::unique_ptr<registration::Predictor> predictor_of(std::string_view name, Costs const& costs, Time reaction,
                                                      Budget const& tables) {
    if (name == "periodicity")
        return std::make_unique<registration::PeriodicityPredictor>(k_periodicity_window, tables);
    registration::ContextOptions options;
    if (name == "published") {
        options.estimate = registration::Estimate::shortest;
    } else {
        options.preparation = [costs, reaction](std::uint64_t bytes) {
            return costs.add.of(registration::pages_of({0, bytes})) + costs.steps.event + costs.steps.insert +
                   costs.steps.update + reaction;
        };
    }
    return std::make_unique<ContextPredictor>(options, tables);
}

class Helped : public Scheme {
  public:
    Helped(std::string_view name, SchemeOptions const& options)
        : registrar_(options.law, timeline_),
          tables_(8_MiB),
          cache_(registrar_, Budget({options.limit}), tables_),
          costs_(costs_of(options.law)),
          predictor_(predictor_of(name, costs_, options.reaction, tables_)),
          helper_(events_, cache_, *predictor_, costs_, {16 * 1024, options.reaction}, tables_),
          reaction_(options.reaction) {}

    Time begin(std::uint32_t id, Message const& message, Time now) override {
        registrar_.set_clock(now);
        Use const use = cache_.begin_use(message.range);
        uses_[id] = use;
        Time wait{0};
        if (use.outcome == Use::Outcome::found) wait = std::max(registrar_.ready(use.key) - now, Time(0));
        if (wait > Time(0)) ++waited_;
        tell(message, What::begins, now, use.outcome == Use::Outcome::found);
        return k_look_up + k_write_event + use.cost + wait;
    }
    Time end(std::uint32_t id, Message const& message, Time now) override {
        bool const was_last = cache_.end_use(uses_[id]);
        uses_.erase(id);
        if (was_last) tell(message, What::ends, now, true);
        return k_write_event;
    }
    /// The helper works until it has come to `now`; what it has begun by then, it ends later.
    void advance(Time now) override {
        while (true) {
            Time const at = std::max(busy_until_, wanted_);
            if (at >= now) return;
            registrar_.set_clock(at);
            Helper::Turn const turn = helper_.work(at);
            busy_until_ = at + turn.spent;
            wanted_ = turn.until;
        }
    }
    SchemeFigures figures() const override {
        SchemeFigures figures;
        figures.registered_by_main = cache_.counters().registered_by_main;
        figures.messages = figures.registered_by_main + cache_.counters().found + cache_.counters().refused;
        figures.waited = waited_;
        figures.accuracy = helper_.accuracy();
        figures.peak = cache_.peak().count;
        return figures;
    }

  private:
    void tell(Message const& message, What what, Time now, bool found) {
        Event event;
        event.at = now;
        event.range = message.range;
        event.frames[0] = static_cast<std::uintptr_t>(message.site) + 0x400000;
        event.kind = message.kind;
        event.what = what;
        event.was_registered = found;
        events_.put(event);
        wanted_ = std::min(wanted_, now + reaction_);
    }

    TimedRegistrar registrar_;
    Budget tables_;
    registration::EventQueue events_;
    Cache cache_;
    Costs costs_;
    std::unique_ptr<registration::Predictor> predictor_;
    Helper helper_;
    Time reaction_;
    Time busy_until_{};
    Time wanted_ = registration::k_never;
    std::uint64_t waited_ = 0;
    std::map<std::uint32_t, Use> uses_;
};

}  // namespace

std::unique_ptr<Scheme> make_helped(std::string_view name, SchemeOptions const& options) {
    return std::make_unique<Helped>(name, options);
}

}  // namespace sluice::bench
