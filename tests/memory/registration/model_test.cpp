// SPDX-License-Identifier: BSD-3-Clause
// Random programs with random limits, failures and unmaps, a helper that is late or starved, and an oracle: a message
// never uses pages that are not registered, or those of a mapping that is gone; bytes are counted right; and nothing is
// left.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "memory/registration/turned_bed.hpp"

namespace sluice::memory::registration {

namespace {

/// Each mapping has a generation; a registration holds the pages of the generation at which it was made.
class Machine : public Registrar {
  public:
    std::string_view name() const noexcept override { return "machine"; }
    Registered add(Range range) noexcept override {
        if (fails_in > 0 && --fails_in == 0) return {0, Failure::device, us(1)};
        live_[++last_] = {range, generation_at(range.begin)};
        pinned += range.bytes;
        return {last_, Failure::none, us(20)};
    }
    Time remove(std::uint64_t key, Range range) noexcept override {
        auto const at = live_.find(key);
        if (at == live_.end() || !(at->second.range == range)) {
            ++wrong;
            return us(1);
        }
        pinned -= range.bytes;
        live_.erase(at);
        return us(10);
    }
    void remap(std::uint64_t number) { ++generations_[buffer(number).begin >> 32]; }
    bool is_right(std::uint64_t key, Range range) const {
        auto const at = live_.find(key);
        return at != live_.end() && at->second.range.contains(range) &&
               at->second.generation == generation_at(range.begin);
    }
    std::size_t live() const { return live_.size(); }

    std::uint64_t pinned = 0;
    int wrong = 0;
    int fails_in = 0;

  private:
    struct Live {
        Range range;
        int generation;
    };
    int generation_at(std::uintptr_t address) const {
        auto const at = generations_.find(address >> 32);
        return at == generations_.end() ? 0 : at->second;
    }
    std::map<std::uint64_t, Live> live_;
    std::map<std::uintptr_t, int> generations_;
    std::uint64_t last_ = 0;
};

class RandomProgram {
  public:
    explicit RandomProgram(unsigned seed)
        : random_(seed),
          tables_(8_MiB),
          pinned_({(std::uint64_t{2} + random_() % 30) << 18}),
          cache_(machine_, pinned_, tables_),
          predictor_(options(), tables_),
          helper_(events_, cache_, predictor_, measure_costs(machine_, 64, {us(1), us(1), us(1)}), {}, tables_) {}

    void run(int steps) {
        for (int step = 0; step < steps; ++step) {
            switch (random_() % 16) {
                case 0:
                    unmap();
                    break;
                case 1:
                    machine_.fails_in = static_cast<int>(random_() % 4);
                    break;
                case 2:
                    pinned_.set_limit({(std::uint64_t{1} + random_() % 30) << 18});
                    break;
                case 3:
                    starved_ = random_() % 4 == 0;
                    break;
                case 4:
                    now_ += us(static_cast<std::int64_t>(random_() % 50'000));
                    break;
                default:
                    message();
            }
            work();
            check();
        }
        finish();
    }

  private:
    ContextOptions options() {
        ContextOptions options;
        options.window = random_() % 4;
        if (random_() % 2 == 0) options.preparation = [](std::uint64_t) { return us(40); };
        return options;
    }
    /// Most messages follow a pattern, so that there is something to predict.
    void message() {
        std::uint64_t const number = random_() % 5 == 0 ? random_() % 10 : step_++ % 6;
        Range const range{buffer(number).begin + (random_() % 8 == 0 ? 65536 : 0),
                          (std::uint64_t{1} + number % 4 + (random_() % 9 == 0 ? 1 : 0)) << 16};
        Use const use = cache_.begin_use(range);
        if (use.outcome == Use::Outcome::found) ++found_;
        now_ += use.cost;
        Event event = use_of(range, number + 1, now_);
        event.was_registered = use.outcome == Use::Outcome::found;
        events_.put(event);
        open_.push_back({use, range, true});
        now_ += us(1000);
        if (open_.size() > random_() % 4) end_first();
    }
    void end_first() {
        Open const first = open_.front();
        open_.erase(open_.begin());
        if (cache_.end_use(first.use)) events_.put(use_of(first.range, 1, now_, What::ends));
    }
    /// As a monitor does it: the cache is told before the memory is gone.
    void unmap() {
        std::uint64_t const number = random_() % 10;
        Range const all{buffer(number).begin, 1 << 20};
        cache_.forget(all);
        machine_.remap(number);
        for (Open& open : open_)
            if (open.range.overlaps(all)) open.is_mapped = false;  // a fault of the program
    }
    void work() {
        for (int turns = 0; !starved_ && turns < 50; ++turns)
            if (helper_.work(now_).until > now_) return;
    }
    void check() {
        for (Open const& open : open_)
            if (open.is_mapped && open.use.outcome != Use::Outcome::refused) {
                ASSERT_TRUE(machine_.is_right(open.use.key, open.range));
            }
        ASSERT_EQ(machine_.pinned, cache_.pinned().count);
        ASSERT_EQ(pinned_.held(Purpose::registered), cache_.pinned());
        ASSERT_EQ(machine_.wrong, 0);
    }
    void finish() {
        while (!open_.empty())
            end_first();
        starved_ = false;
        for (int i = 0; i < 2000; ++i) {
            now_ += ms(10);
            work();
        }
        EXPECT_EQ(cache_.pinned().count, 0U);
        EXPECT_EQ(machine_.live(), 0U);
        EXPECT_GT(found_, 0);
    }

    struct Open {
        Use use;
        Range range;
        bool is_mapped;
    };
    std::mt19937 random_;
    Machine machine_;
    Budget tables_;
    Budget pinned_;
    EventQueue events_;
    Cache cache_;
    ContextPredictor predictor_;
    Helper helper_;
    Time now_{0};
    std::vector<Open> open_;
    std::uint64_t step_ = 0;
    int found_ = 0;
    bool starved_ = false;
};

TEST(RegistrationModel, random_programs_never_use_what_is_not_registered) {
    for (unsigned seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomProgram(seed).run(600);
        if (HasFailure()) return;
    }
}

}  // namespace

}  // namespace sluice::memory::registration
