// SPDX-License-Identifier: BSD-3-Clause
/// A main thread and a helper on one turned clock: the test is the main thread, and the helper works whenever the clock
/// moves on, unless it is starved.
#pragma once

#include <algorithm>
#include <memory>

#include "memory/registration/cache.hpp"
#include "memory/registration/helper.hpp"
#include "memory/registration/predict/context_predictor.hpp"
#include "memory/registration/registrars/counting.hpp"

namespace sluice::memory::registration {

constexpr Time us(std::int64_t n) {
    return Time(n * 1000);
}
constexpr Time ms(std::int64_t n) {
    return Time(n * 1'000'000);
}

/// Ranges of their own pages.
constexpr Range buffer(std::uint64_t number, std::uint64_t bytes = 1 << 20) {
    return {(number + 1) << 32, bytes};
}

inline Event use_of(Range range, std::uintptr_t site, Time at, What what = What::begins, Kind kind = Kind::send) {
    Event event;
    event.at = at;
    event.range = range;
    event.frames[0] = site;
    event.kind = kind;
    event.what = what;
    return event;
}

class TurnedBed {
  public:
    explicit TurnedBed(std::uint64_t limit = ~std::uint64_t{0}, ContextOptions options = {}, CostLaw law = {})
        : registrar(law),
          tables(8_MiB),
          pinned({limit}),
          cache(registrar, pinned, tables),
          costs(measure_costs(registrar, 256, {us(2), Time(500), Time(500)})),
          predictor(std::move(options), tables),
          helper(events, cache, predictor, costs, {}, tables) {}

    /// The program computes, and the helper works meanwhile.
    void pass(Time time) {
        Time const end = now + time;
        while (!is_starved && std::max(busy_until, wanted) < end) {
            Time const at = std::max(busy_until, wanted);
            Helper::Turn const turn = helper.work(at);
            busy_until = at + turn.spent;
            wanted = turn.until;
            ++turns;
        }
        now = end;
    }
    /// A message from its begin to its end; returns how it found its registration.
    Use message(Range range, std::uintptr_t site, Time time = us(100), Kind kind = Kind::send) {
        Use const use = cache.begin_use(range);
        Event event = use_of(range, site, now, What::begins, kind);
        now += use.cost;
        event.was_registered = use.outcome == Use::Outcome::found;
        tell(event);
        pass(time);
        if (cache.end_use(use)) tell(use_of(range, site, now, What::ends, kind));
        return use;
    }
    void tell(Event const& event) {
        events.put(event);
        wanted = std::min(wanted, now);
    }
    std::uint64_t by_main() const { return cache.counters().registered_by_main; }

    CountingRegistrar registrar;
    Budget tables;
    Budget pinned;
    EventQueue events;
    Cache cache;
    Costs costs;
    ContextPredictor predictor;
    Helper helper;
    Time now{0};
    Time busy_until{0};
    Time wanted = k_never;
    bool is_starved = false;
    std::uint64_t turns = 0;
};

}  // namespace sluice::memory::registration
