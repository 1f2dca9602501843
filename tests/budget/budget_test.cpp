// SPDX-License-Identifier: BSD-3-Clause
#include "sluice/budget.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "kernel/keeper.hpp"
#include "sluice/error.hpp"

namespace sluice {
namespace {

TEST(Budget, hands_out_what_fits_and_no_more) {
    Budget budget(1_MiB);
    auto const first = budget.try_lease(600_KiB, Purpose::staging);
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->amount(), 600_KiB);
    EXPECT_EQ(first->purpose(), Purpose::staging);
    EXPECT_FALSE(budget.try_lease(500_KiB, Purpose::ring).has_value());
    auto const second = budget.try_lease(424_KiB, Purpose::ring);
    ASSERT_TRUE(second.has_value());
    EXPECT_EQ(budget.held(), 1_MiB);
    EXPECT_EQ(budget.held(Purpose::staging), 600_KiB);
    EXPECT_EQ(budget.held(Purpose::ring), 424_KiB);
    EXPECT_EQ(budget.held(Purpose::other), 0_B);
    EXPECT_EQ(budget.limit(), 1_MiB);
}

TEST(Budget, a_lease_gives_its_bytes_back_once) {
    Budget budget(1_MiB);
    {
        auto lease = budget.try_lease(1_MiB, Purpose::staging);
        ASSERT_TRUE(lease.has_value());
        Lease moved = std::move(*lease);
        lease->release();  // an empty lease gives nothing back
        EXPECT_EQ(budget.held(), 1_MiB);
        EXPECT_EQ(lease->amount(), 0_B);
        moved.release();
        EXPECT_EQ(budget.held(), 0_B);
        moved.release();
        EXPECT_EQ(budget.held(), 0_B);
    }
    EXPECT_EQ(budget.held(), 0_B);
}

TEST(Budget, assigning_over_a_lease_gives_its_bytes_back) {
    Budget budget(1_MiB);
    Lease lease = *budget.try_lease(700_KiB, Purpose::staging);
    lease = *budget.try_lease(100_KiB, Purpose::bookkeeping);
    EXPECT_EQ(budget.held(), 100_KiB);
    EXPECT_EQ(budget.held(Purpose::staging), 0_B);
    EXPECT_EQ(lease.purpose(), Purpose::bookkeeping);
    lease = Lease();
    EXPECT_EQ(budget.held(), 0_B);
}

TEST(Budget, the_guaranteed_minimum_is_granted_over_the_limit_while_nothing_else_is_held) {
    Budget budget(1_KiB);
    auto const lease = budget.try_lease(Budget::guaranteed_minimum, Purpose::staging);
    ASSERT_TRUE(lease.has_value());
    EXPECT_FALSE(budget.try_lease(1_B, Purpose::staging).has_value());
    EXPECT_TRUE(budget.try_lease(0_B, Purpose::staging).has_value());
}

TEST(Budget, more_than_the_guaranteed_minimum_is_not_granted_over_the_limit) {
    Budget budget(1_KiB);
    EXPECT_FALSE(budget.try_lease(Budget::guaranteed_minimum + 1_B, Purpose::staging).has_value());
    EXPECT_EQ(budget.held(), 0_B);
}

TEST(Budget, a_huge_amount_does_not_wrap_around) {
    Budget budget(1_MiB);
    auto const lease = budget.try_lease(1_KiB, Purpose::staging);
    EXPECT_FALSE(budget.try_lease({~std::uint64_t{0}}, Purpose::staging).has_value());
    EXPECT_THROW(budget.when_free({~std::uint64_t{0}}, Purpose::staging, [](Lease) {}), Error);
    EXPECT_EQ(budget.held(), 1_KiB);
}

TEST(Budget, remembers_its_peak_until_it_is_reset) {
    Budget budget(1_MiB);
    {
        auto const a = budget.try_lease(300_KiB, Purpose::staging);
        auto const b = budget.try_lease(200_KiB, Purpose::ring);
    }
    auto const c = budget.try_lease(50_KiB, Purpose::ring);
    EXPECT_EQ(budget.peak(), 500_KiB);
    budget.reset_peak();
    EXPECT_EQ(budget.peak(), 50_KiB);
}

TEST(Budget, when_free_calls_at_once_where_the_amount_fits) {
    Budget budget(1_MiB);
    bool called = false;
    budget.when_free(1_MiB, Purpose::staging, [&](Lease lease) {
        called = true;
        EXPECT_EQ(lease.amount(), 1_MiB);
        EXPECT_EQ(budget.held(), 1_MiB);
    });
    EXPECT_TRUE(called);
    EXPECT_EQ(budget.held(), 0_B);
}

TEST(Budget, when_free_throws_where_the_amount_can_never_fit) {
    Budget budget(1_MiB);
    try {
        budget.when_free(2_MiB, Purpose::staging, [](Lease) { ADD_FAILURE() << "called"; });
        ADD_FAILURE() << "no error";
    } catch (Error const& error) {
        EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
        EXPECT_NE(std::string(error.what()).find("2 MiB"), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("1 MiB"), std::string::npos);
    }
}

TEST(Budget, those_who_wait_are_served_in_order_of_asking) {
    Budget budget(1_MiB);
    auto all = budget.try_lease(1_MiB, Purpose::staging);
    std::vector<int> served;
    std::vector<Lease> kept;
    for (int i = 0; i < 5; ++i)
        budget.when_free(i == 0 ? 900_KiB : 100_KiB, Purpose::staging, [&served, &kept, i](Lease lease) {
            served.push_back(i);
            kept.push_back(std::move(lease));
        });
    EXPECT_TRUE(served.empty());
    all->release();
    EXPECT_EQ(served, (std::vector{0, 1}));  // 900 + 100 KiB
    Lease large = std::move(kept.front());
    large.release();
    EXPECT_EQ(served, (std::vector{0, 1, 2, 3, 4}));
}

TEST(Budget, nobody_overtakes_a_large_request_that_waits) {
    Budget budget(1_MiB);
    auto small = budget.try_lease(100_KiB, Purpose::staging);
    bool large_served = false;
    budget.when_free(1_MiB, Purpose::staging, [&](Lease) { large_served = true; });
    EXPECT_FALSE(budget.try_lease(100_KiB, Purpose::staging).has_value()) << "would fit, but the large one came first";
    bool later_served = false;
    budget.when_free(1_KiB, Purpose::staging, [&](Lease) { later_served = true; });
    EXPECT_FALSE(later_served);
    small->release();
    EXPECT_TRUE(large_served);
    EXPECT_TRUE(later_served);
}

TEST(Budget, a_callback_may_ask_again_without_end) {
    Budget budget(64_KiB);
    int left = 200'000;  // deep enough for a stack overflow if each callback were called from inside the one before
    std::function<void(Lease)> go = [&](Lease lease) {
        if (--left == 0) return;
        budget.when_free(64_KiB, Purpose::staging, go);
        lease.release();
    };
    budget.when_free(64_KiB, Purpose::staging, go);
    EXPECT_EQ(left, 0);
    EXPECT_EQ(budget.held(), 0_B);
}

TEST(Budget, a_long_queue_is_served_by_one_release_without_recursion) {
    Budget budget(64_KiB);
    auto all = budget.try_lease(64_KiB, Purpose::staging);
    int served = 0;
    for (int i = 0; i < 200'000; ++i)
        budget.when_free(64_KiB, Purpose::staging, [&](Lease) { ++served; });
    all->release();
    EXPECT_EQ(served, 200'000);
}

TEST(Budget, leases_outlive_the_budget) {
    Lease lease;
    bool served = false;
    {
        Budget budget(1_MiB);
        lease = *budget.try_lease(1_MiB, Purpose::staging);
        budget.when_free(1_KiB, Purpose::staging, [&](Lease) { served = true; });
    }
    EXPECT_FALSE(served);
    lease.release();
    EXPECT_TRUE(served);
}

TEST(Budget, threads_that_fight_for_it_never_hold_more_than_the_limit) {
    constexpr int k_threads = 4;
    constexpr int k_rounds = 2000;
    Budget budget(256_KiB);
    std::atomic<std::uint64_t> in_use{0};
    std::atomic<std::uint64_t> most{0};
    auto const use = [&](Lease const& lease) {
        std::uint64_t const now = in_use.fetch_add(lease.amount().count) + lease.amount().count;
        std::uint64_t seen = most.load();
        while (seen < now && !most.compare_exchange_weak(seen, now)) {
        }
        in_use.fetch_sub(lease.amount().count);
    };
    std::atomic<int> answered{0};
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < k_threads; ++t)
            threads.emplace_back([&, t] {
                std::mt19937_64 random(static_cast<std::uint64_t>(t));
                for (int i = 0; i < k_rounds; ++i) {
                    Bytes const amount{1 + random() % (200 * 1024)};
                    if (i % 2 == 0) {
                        if (auto const lease = budget.try_lease(amount, Purpose::staging)) use(*lease);
                        ++answered;
                    } else {
                        budget.when_free(amount, Purpose::ring, [&](Lease lease) {
                            use(lease);
                            ++answered;
                        });
                    }
                }
            });
    }
    EXPECT_EQ(answered, k_threads * k_rounds) << "a callback was never called";
    EXPECT_EQ(budget.held(), 0_B);
    EXPECT_LE(most.load(), (256_KiB).count);
    EXPECT_LE(budget.peak(), 256_KiB);
    EXPECT_GT(budget.peak(), 0_B);
}

TEST(Budget, a_lease_may_be_given_back_by_another_thread_than_took_it) {
    Budget budget(1_MiB);
    std::mutex mutex;
    std::condition_variable changed;
    std::thread::id called_on;
    auto all = budget.try_lease(1_MiB, Purpose::staging);
    budget.when_free(1_MiB, Purpose::staging, [&](Lease) {
        std::lock_guard const lock(mutex);
        called_on = std::this_thread::get_id();
        changed.notify_all();
    });
    std::jthread other([lease = std::move(*all)]() mutable { lease.release(); });
    std::thread::id const other_id = other.get_id();
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return called_on != std::thread::id{}; });
    EXPECT_EQ(called_on, other_id);
}

/// Keeps one lease for reuse.
class Keeping final : public kernel::Keeper {
  public:
    Keeping(Budget& budget, Bytes amount) : lease_(budget.try_lease(amount, Purpose::staging)) {}
    void give_back() noexcept override {
        ++asked_;
        lease_.reset();
    }
    bool keeps() const { return lease_.has_value(); }
    int asked() const { return asked_; }

  private:
    std::optional<Lease> lease_;
    int asked_ = 0;
};

TEST(BudgetKeepers, are_asked_only_when_a_request_does_not_fit) {
    Budget budget(1_MiB);
    auto const keeping = std::make_shared<Keeping>(budget, 600_KiB);
    budget::add_keeper(budget, keeping);
    EXPECT_TRUE(budget.try_lease(400_KiB, Purpose::other));
    EXPECT_EQ(keeping->asked(), 0);
    EXPECT_TRUE(budget.try_lease(1_MiB, Purpose::other));
    EXPECT_FALSE(keeping->keeps());
    EXPECT_EQ(keeping->asked(), 1);
}

TEST(BudgetKeepers, serve_a_request_that_waits) {
    Budget budget(1_MiB);
    auto const keeping = std::make_shared<Keeping>(budget, 600_KiB);
    budget::add_keeper(budget, keeping);
    bool is_served = false;
    budget.when_free(1_MiB, Purpose::fetched, [&](Lease) { is_served = true; });
    EXPECT_TRUE(is_served);
    EXPECT_FALSE(keeping->keeps());
}

TEST(BudgetKeepers, are_asked_when_the_limit_falls_below_what_is_held) {
    Budget budget(1_MiB);
    auto const keeping = std::make_shared<Keeping>(budget, 600_KiB);
    budget::add_keeper(budget, keeping);
    budget.set_limit(600_KiB);
    EXPECT_TRUE(keeping->keeps());
    budget.set_limit(500_KiB);
    EXPECT_FALSE(keeping->keeps());
    EXPECT_EQ(budget.held(), 0_B);
}

TEST(BudgetKeepers, make_room_for_what_is_granted_beyond_the_limit) {
    Budget budget(1_MiB);
    auto const keeping = std::make_shared<Keeping>(budget, 600_KiB);
    budget::add_keeper(budget, keeping);
    Lease const lease = budget.lease_beyond(500_KiB, Purpose::other);
    EXPECT_FALSE(keeping->keeps());
    EXPECT_EQ(budget.held(), 500_KiB);
}

TEST(BudgetKeepers, that_are_gone_are_not_asked) {
    Budget budget(1_MiB);
    budget::add_keeper(budget, std::make_shared<Keeping>(budget, 600_KiB));
    EXPECT_EQ(budget.held(), 0_B);
    EXPECT_FALSE(budget.try_lease(2_MiB, Purpose::other));
}

/// Asks its budget again while it is asked.
class AskingAgain final : public kernel::Keeper {
  public:
    explicit AskingAgain(Budget& budget) : budget_(budget) {}
    void give_back() noexcept override {
        ++asked_;
        EXPECT_FALSE(budget_.try_lease(2_MiB, Purpose::other));
    }
    int asked() const { return asked_; }

  private:
    Budget& budget_;
    int asked_ = 0;
};

TEST(BudgetKeepers, may_use_the_budget_and_are_asked_once) {
    Budget budget(1_MiB);
    auto const asking = std::make_shared<AskingAgain>(budget);
    budget::add_keeper(budget, asking);
    EXPECT_FALSE(budget.try_lease(2_MiB, Purpose::other));
    EXPECT_EQ(asking->asked(), 1);
}

}  // namespace
}  // namespace sluice
