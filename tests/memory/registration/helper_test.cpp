// SPDX-License-Identifier: BSD-3-Clause
#include "memory/registration/helper.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <random>

#include "memory/registration/turned_bed.hpp"

namespace sluice::memory::registration {

namespace {

constexpr std::uint64_t k_mib = 1 << 20;

TEST(Helper, after_a_few_rounds_each_buffer_is_registered_just_before_its_use) {
    TurnedBed bed;
    for (int round = 0; round < 12; ++round)
        for (std::uint64_t i = 0; i < 8; ++i) {
            bed.pass(ms(50));
            Use const use = bed.message(buffer(i), i + 1);
            if (round >= 4) {
                EXPECT_EQ(use.outcome, Use::Outcome::found) << round << ", buffer " << i;
            }
        }
    EXPECT_EQ(bed.cache.peak().count, k_mib) << "one buffer at a time";
    EXPECT_LE(bed.by_main(), 20U) << "two rounds to learn";
    EXPECT_EQ(bed.helper.accuracy().within_half_percent, bed.helper.accuracy().predictions);
    bed.pass(ms(2000));
    EXPECT_EQ(bed.cache.pinned().count, 0U) << "what does not come again is given up";
    EXPECT_EQ(bed.registrar.added(), bed.registrar.removed());
}

TEST(Helper, a_buffer_that_is_never_used_again_is_given_back_at_once) {
    TurnedBed bed;
    for (std::uint64_t i = 0; i < 50; ++i) {
        bed.message(buffer(i), 1);
        bed.pass(ms(10));
        EXPECT_EQ(bed.cache.pinned().count, 0U);
    }
    EXPECT_EQ(bed.cache.peak().count, k_mib);
}

/// now + deregistration + registration ≤ deadline: else the region stays.
TEST(Helper, a_region_stays_registered_if_there_is_no_time_to_register_it_again) {
    TurnedBed bed;
    std::uint64_t const before = bed.registrar.added();
    for (int i = 0; i < 20; ++i) {
        bed.message(buffer(1), 1);
        bed.pass(us(60));  // registering takes longer
    }
    EXPECT_GE(bed.helper.counters().kept, 15U);
    EXPECT_LE(bed.registrar.added() - before, 2U);
}

/// A helper whose processor is taken away comes to a registration up to 5 ms late, and does not know it.
TEST(Helper, a_margin_makes_up_for_a_helper_that_comes_late) {
    TurnedBed bed;
    std::mt19937 random(3);
    int messages = 0;
    int found = 0;
    for (int round = 0; round < 60; ++round)
        for (std::uint64_t i = 0; i < 8; ++i) {
            for (Time left = ms(50) + us(static_cast<std::int64_t>(random() % 2000)); left > Time(0); left -= ms(5)) {
                bed.is_starved = true;
                bed.pass(std::min(left, ms(5)));
                bed.is_starved = false;
                if (left <= ms(5)) break;
                bed.wanted = std::max(bed.wanted, bed.now);
                bed.pass(us(300));
            }
            bed.is_starved = true;
            bool const was_found = bed.message(buffer(i), i + 1).outcome == Use::Outcome::found;
            bed.is_starved = false;
            if (round < 20) continue;
            ++messages;
            found += was_found ? 1 : 0;
        }
    EXPECT_GE(found, messages * 95 / 100) << "of " << messages;
    EXPECT_LE(bed.cache.peak().count, 2 * k_mib);
}

/// What comes at random moments is another matter than what comes a little too soon.
TEST(Helper, a_program_that_is_held_up_once_finds_its_buffers) {
    TurnedBed plain;
    ContextOptions options;
    options.preparation = [&plain](std::uint64_t bytes) { return plain.costs.add.of(pages_of({0, bytes})) + us(100); };
    TurnedBed bed(~std::uint64_t{0}, options);
    std::uint64_t learnt = 0;
    for (int round = 0; round < 24; ++round) {
        if (round == 8) learnt = bed.by_main();
        for (std::uint64_t i = 0; i < 8; ++i) {
            bed.pass(ms(50));
            if (round == 12 && i == 3) bed.pass(ms(40));  // a tenth of the period
            bed.message(buffer(i), i + 1);
        }
    }
    EXPECT_EQ(bed.by_main(), learnt);
    EXPECT_LE(bed.cache.peak().count, 2 * k_mib);
}

TEST(Margin, balances_where_two_of_a_hundred_come_too_soon_and_leaves_other_patterns_alone) {
    std::mt19937 random(5);
    Margin margin;
    int missed = 0;
    for (int i = 0; i < 20000; ++i) {
        Time const sooner = us(static_cast<std::int64_t>(random() % 1000));
        bool const is_missed = sooner > margin.of(ms(100));
        if (is_missed)
            margin.came_sooner(sooner, ms(100));
        else
            margin.found();
        if (i >= 10000) missed += is_missed ? 1 : 0;
    }
    EXPECT_GT(missed, 50);
    EXPECT_LT(missed, 400);
    Margin other;
    other.came_sooner(ms(50), ms(100));
    EXPECT_EQ(other.of(ms(100)), Time(0));
}

TEST(Helper, why_a_message_was_not_prepared_is_counted) {
    TurnedBed bed;
    for (int i = 0; i < 6; ++i) {
        bed.message(buffer(1), 1);
        bed.pass(ms(100));
    }
    Unprepared const& why = bed.helper.counters().unprepared;
    EXPECT_EQ(why.all(), bed.by_main());
    EXPECT_EQ(why.unknown, 4U) << "three contexts, and one that is seen again";
    std::uint64_t const early = why.early;
    bed.message(buffer(1), 1);
    bed.pass(ms(20));
    bed.message(buffer(1), 1);
    bed.pass(ms(100));
    EXPECT_EQ(why.early, early + 1);
    EXPECT_EQ(why.all(), bed.by_main());
}

TEST(Helper, registration_waits_for_its_deadline) {
    TurnedBed bed;
    for (int i = 0; i < 5; ++i) {
        bed.message(buffer(1), 1);
        bed.pass(ms(100));
    }
    // The next use is due now: it is registered, and was not half a millisecond ago.
    EXPECT_EQ(bed.cache.pinned().count, k_mib);
    bed.message(buffer(1), 1);
    bed.pass(ms(99));
    EXPECT_EQ(bed.cache.pinned().count, 0U);
    bed.pass(ms(1));
    EXPECT_EQ(bed.cache.pinned().count, k_mib);
}

/// Twelve buffers are used at the same moment; one helper registers them one after the other, all in time.
TEST(Helper, near_deadlines_are_spread) {
    TurnedBed bed;
    std::uint64_t main_before = 0;
    for (int round = 0; round < 8; ++round) {
        bed.pass(ms(200));
        if (round == 4) main_before = bed.by_main();
        std::vector<Use> uses;
        for (std::uint64_t i = 0; i < 12; ++i) {
            uses.push_back(bed.cache.begin_use(buffer(i)));
            bed.tell(use_of(buffer(i), i + 1, bed.now));
        }
        bed.pass(ms(2));
        for (std::uint64_t i = 0; i < 12; ++i)
            if (bed.cache.end_use(uses[i])) bed.tell(use_of(buffer(i), i + 1, bed.now, What::ends));
    }
    EXPECT_EQ(bed.by_main(), main_before);
    EXPECT_GT(bed.helper.counters().spread, 0U);
}

TEST(Helper, a_region_of_several_sites_keeps_the_earliest_deadline) {
    TurnedBed bed;
    for (int i = 0; i < 10; ++i) {
        bed.message(buffer(1), 1);
        bed.pass(ms(10));
        Use const second = bed.message(buffer(1), 2);
        bed.pass(ms(70));
        if (i > 4) {
            EXPECT_EQ(second.outcome, Use::Outcome::found);
        }
    }
    EXPECT_LE(bed.by_main(), 8U);
}

TEST(Helper, starved_of_its_processor_the_main_thread_registers_by_itself) {
    TurnedBed bed;
    for (int round = 0; round < 6; ++round)
        for (std::uint64_t i = 0; i < 4; ++i) {
            bed.message(buffer(i), i + 1);
            bed.pass(ms(20));
        }
    bed.is_starved = true;
    for (int round = 0; round < 300; ++round)
        for (std::uint64_t i = 0; i < 4; ++i) {
            EXPECT_NE(bed.message(buffer(i + static_cast<std::uint64_t>(round) % 3), i + 1).outcome,
                      Use::Outcome::refused);
            bed.pass(ms(20));
        }
    EXPECT_GT(bed.events.dropped(), 0U);
    bed.is_starved = false;
    bed.wanted = bed.now;
    bed.pass(ms(10'000));
    EXPECT_EQ(bed.cache.pinned().count, 0U) << "what dropped events would have told is found";
    EXPECT_EQ(bed.registrar.pinned(), 0U);
}

TEST(Helper, forgotten_regions_are_given_back) {
    TurnedBed bed;
    for (int i = 0; i < 6; ++i) {
        bed.message(buffer(1), 1);
        bed.pass(ms(10));
    }
    EXPECT_GT(bed.cache.pinned().count, 0U);
    bed.cache.forget(buffer(1));
    bed.wanted = bed.now;
    bed.pass(us(200));
    EXPECT_EQ(bed.cache.strays(), 0U);
    EXPECT_EQ(bed.registrar.pinned(), 0U);
}

TEST(Helper, refused_registrations_leave_the_work_to_the_message) {
    TurnedBed bed;
    for (int i = 0; i < 6; ++i) {
        bed.message(buffer(1), 1);
        bed.pass(ms(10));
    }
    bed.cache.forget(buffer(1));
    bed.registrar.fail(Failure::limit);
    for (int i = 0; i < 20; ++i) {
        bed.message(buffer(1), 1);
        bed.pass(ms(10));
    }
    EXPECT_GT(bed.helper.counters().failed, 0U);
    bed.registrar.fail(Failure::none);
    for (int i = 0; i < 6; ++i) {
        bed.pass(ms(10));
        bed.message(buffer(1), 1);
    }
    EXPECT_EQ(bed.message(buffer(1), 1).outcome, Use::Outcome::found);
}

TEST(Helper, small_messages_are_not_served) {
    TurnedBed bed;
    for (int i = 0; i < 10; ++i) {
        bed.tell(use_of(buffer(1, 8192), 1, bed.now));
        bed.pass(ms(10));
    }
    EXPECT_EQ(bed.helper.counters().events, 0U);
}

TEST(Helper, works_within_a_limit_smaller_than_all_buffers) {
    TurnedBed bed(4 * k_mib);
    for (int round = 0; round < 20; ++round)
        for (std::uint64_t i = 0; i < 16; ++i) {
            bed.pass(ms(20));
            EXPECT_NE(bed.message(buffer(i, 2 * k_mib), i + 1).outcome, Use::Outcome::refused);
        }
    EXPECT_LE(bed.cache.peak().count, 4 * k_mib);
    EXPECT_LE(bed.by_main(), 48U);
}

/// A helper that is asked to work sleeps until something is to be done: it is not called without end.
TEST(Helper, does_not_spin) {
    TurnedBed bed;
    for (int round = 0; round < 100; ++round)
        for (std::uint64_t i = 0; i < 4; ++i) {
            bed.message(buffer(i), i + 1);
            bed.pass(ms(20));
        }
    EXPECT_LE(bed.turns, 100U * 4 * 12);
}

TEST(Helper, does_not_grow_in_40000_rounds) {
    TurnedBed bed;
    std::mt19937_64 random(3);
    std::uint64_t next_new = 100;
    auto const round = [&](int i) {
        bed.message(buffer(static_cast<std::uint64_t>(i) % 8), static_cast<std::uintptr_t>(i % 8) + 1);
        bed.pass(us(500 + static_cast<std::int64_t>(random() % 100)));
        if (i % 10 == 0) bed.message(buffer(next_new++), 50);
    };
    for (int i = 0; i < 200; ++i)
        round(i);
    auto const before = mallinfo2();
    Bytes const tables = bed.tables.held();
    for (int i = 0; i < 40'000; ++i)
        round(i);
    auto const after = mallinfo2();
    EXPECT_LE(after.uordblks + after.hblkhd, before.uordblks + before.hblkhd + 512 * 1024);
    EXPECT_EQ(bed.tables.held(), tables);
}

}  // namespace

}  // namespace sluice::memory::registration
