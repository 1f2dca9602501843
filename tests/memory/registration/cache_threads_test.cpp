// SPDX-License-Identifier: BSD-3-Clause
// A main thread, a helper and a monitor of unmaps at once: what a message uses is registered from its begin to its end,
// and at the end nothing is left.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "memory/registration/cache.hpp"
#include "memory/registration/turned_bed.hpp"

namespace sluice::memory::registration {

namespace {

/// Knows which keys are registered.
class StrictRegistrar : public Registrar {
  public:
    std::string_view name() const noexcept override { return "strict"; }
    Registered add(Range range) noexcept override {
        std::lock_guard const lock(mutex_);
        live_[++last_] = range;
        return {last_, Failure::none, Time(1)};
    }
    Time remove(std::uint64_t key, Range range) noexcept override {
        std::lock_guard const lock(mutex_);
        auto const at = live_.find(key);
        if (at == live_.end() || !(at->second == range))
            ++wrong_;
        else
            live_.erase(at);
        return Time(1);
    }
    bool has(std::uint64_t key, Range range) {
        std::lock_guard const lock(mutex_);
        auto const at = live_.find(key);
        return at != live_.end() && at->second.contains(whole_pages(range));
    }
    std::size_t live() {
        std::lock_guard const lock(mutex_);
        return live_.size();
    }
    int wrong() {
        std::lock_guard const lock(mutex_);
        return wrong_;
    }

  private:
    std::mutex mutex_;
    std::map<std::uint64_t, Range> live_;
    std::uint64_t last_ = 0;
    int wrong_ = 0;
};

Range drawn(std::mt19937& random) {
    std::uint64_t const number = random() % 12;
    return {buffer(number).begin + (random() % 3 << 16), (std::uint64_t{1} + random() % 3) << 16};
}

TEST(CacheThreads, what_is_in_use_is_registered) {
    StrictRegistrar registrar;
    Budget const tables(1_MiB);
    Budget const pinned(1_MiB);
    std::atomic<bool> stop{false};
    {
        Cache cache(registrar, pinned, tables);
        std::thread helper([&] {
            std::mt19937 random(1);
            while (!stop) {
                Range const range = drawn(random);
                switch (random() % 4) {
                    case 0:
                        cache.warm(range, ms(static_cast<std::int64_t>(random() % 100)));
                        break;
                    case 1:
                        cache.give_back(range);
                        break;
                    case 2:
                        cache.set_next_use(range, ms(static_cast<std::int64_t>(random() % 100)));
                        break;
                    default:
                        cache.give_back_stray();
                }
            }
        });
        std::thread monitor([&] {
            std::mt19937 random(2);
            while (!stop) {
                cache.forget(drawn(random));
                std::this_thread::yield();
            }
        });
        std::mt19937 random(3);
        std::vector<std::pair<Use, Range>> open;
        for (int i = 0; i < 60'000; ++i) {
            if (open.size() < 4 && random() % 2 == 0) {
                Range const range = drawn(random);
                Use const use = cache.begin_use(range);
                if (use.outcome != Use::Outcome::refused) open.emplace_back(use, range);
            } else if (!open.empty()) {
                ASSERT_TRUE(registrar.has(open.front().first.key, open.front().second));
                cache.end_use(open.front().first);
                open.erase(open.begin());
            }
        }
        for (auto const& [use, range] : open)
            cache.end_use(use);
        stop = true;
        helper.join();
        monitor.join();
    }
    EXPECT_EQ(registrar.live(), 0U);
    EXPECT_EQ(registrar.wrong(), 0);
    EXPECT_EQ(pinned.held(), Bytes{});
}

}  // namespace

}  // namespace sluice::memory::registration
