// SPDX-License-Identifier: BSD-3-Clause
#include "registration/scheme.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

#include "memory/registration/cache.hpp"

namespace sluice::bench {

using registration::Cache;
using registration::CostLaw;
using registration::Registered;
using registration::Use;

registration::Registered TimedRegistrar::add(Range range) noexcept {
    Registered const made = CountingRegistrar::add(range);
    if (made.failure != registration::Failure::none) return made;
    timeline_->change(clock_, static_cast<std::int64_t>(registration::whole_pages(range).bytes));
    ready_.resize(std::max<std::size_t>(ready_.size(), made.key));
    clock_ += made.cost;
    ready_[made.key - 1] = clock_;
    return made;
}

Time TimedRegistrar::remove(std::uint64_t key, Range range) noexcept {
    Time const cost = CountingRegistrar::remove(key, range);
    clock_ += cost;
    timeline_->change(clock_, -static_cast<std::int64_t>(registration::whole_pages(range).bytes));
    return cost;
}

namespace {

/// Leave pinned, direct and lru: the main thread does all by itself.
class Cached : public Scheme {
  public:
    Cached(SchemeOptions const& options, bool gives_back)
        : registrar_(options.law, timeline_),
          tables_(1_MiB),
          cache_(registrar_, Budget({options.limit}), tables_, registration::Policy::keep),
          gives_back_(gives_back) {}

    Time begin(std::uint32_t id, Message const& message, Time now) override {
        registrar_.set_clock(now);
        Use const use = cache_.begin_use(message.range);
        uses_[id] = use;
        return k_look_up + use.cost;
    }
    Time end(std::uint32_t id, Message const& message, Time now) override {
        registrar_.set_clock(now);
        bool const was_last = cache_.end_use(uses_[id]);
        uses_.erase(id);
        // The cache gives way by the latest next use: with the last use negated that is the least recently used region.
        cache_.set_next_use(message.range, registration::k_never - Time(1) - now);
        return gives_back_ && was_last ? cache_.give_back(message.range).cost : Time(0);
    }
    void advance(Time) override {}
    SchemeFigures figures() const override {
        SchemeFigures figures;
        figures.registered_by_main = cache_.counters().registered_by_main;
        figures.messages = figures.registered_by_main + cache_.counters().found + cache_.counters().refused;
        figures.peak = cache_.peak().count;
        return figures;
    }

  private:
    TimedRegistrar registrar_;
    Budget tables_;
    Cache cache_;
    bool gives_back_;
    std::map<std::uint32_t, Use> uses_;
};

/// Two pieces of a message are registered at a time. The time that registering adds to the message is that of the first
/// piece, and what the others take longer than the wire.
class Pipelined : public Scheme {
  public:
    explicit Pipelined(SchemeOptions const& options) : model_(options.law) {}

    Time begin(std::uint32_t, Message const& message, Time now) override {
        std::uint64_t const pieces = (message.range.bytes + k_piece - 1) / k_piece;
        Range const piece{message.range.begin, std::min(k_piece, message.range.bytes)};
        ++figures_.messages;
        figures_.registered_by_main += pieces;
        timeline_.change(now, pinned_by(message));
        Time const each = model_.cost_of_add(piece) + model_.cost_of_remove(piece);
        Time const wire(static_cast<Time::rep>(wire_seconds(piece.bytes) * 1e9));
        return model_.cost_of_add(piece) + std::max(each - wire, Time(0)) * (pieces - 1);
    }
    Time end(std::uint32_t, Message const& message, Time now) override {
        Time const last = model_.cost_of_remove({message.range.begin, std::min(k_piece, message.range.bytes)});
        timeline_.change(now + last, -pinned_by(message));
        return last;
    }
    void advance(Time) override {}
    SchemeFigures figures() const override {
        SchemeFigures figures = figures_;
        figures.peak = timeline_.figures(Time(0), Time(1)).peak;
        return figures;
    }

  private:
    static constexpr std::uint64_t k_piece = 1 << 20;
    static std::int64_t pinned_by(Message const& message) {
        return static_cast<std::int64_t>(std::min(2 * k_piece, registration::whole_pages(message.range).bytes));
    }
    registration::CountingRegistrar model_;
    SchemeFigures figures_;
};

}  // namespace

std::vector<std::string_view> scheme_names() {
    return {"leave_pinned", "direct", "pipelined", "lru", "published", "periodicity", "sluice"};
}

std::unique_ptr<Scheme> make_scheme(std::string_view name, SchemeOptions const& options) {
    SchemeOptions unlimited = options;
    unlimited.limit = ~std::uint64_t{0};
    if (name == "leave_pinned") return std::make_unique<Cached>(unlimited, false);
    if (name == "direct") return std::make_unique<Cached>(unlimited, true);
    if (name == "pipelined") return std::make_unique<Pipelined>(options);
    if (name == "lru") return std::make_unique<Cached>(options, false);
    if (name == "published" || name == "periodicity" || name == "sluice") return make_helped(name, options);
    throw std::invalid_argument("no scheme has the name " + std::string(name));
}

}  // namespace sluice::bench
