// SPDX-License-Identifier: BSD-3-Clause
#include "memory/registration/event_queue.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "memory/registration/turned_bed.hpp"

namespace sluice::memory::registration {

namespace {

TEST(EventQueue, gives_events_back_in_their_order) {
    EventQueue queue;
    EXPECT_FALSE(queue.take().has_value());
    for (std::int64_t round = 0; round < 5; ++round) {
        for (std::int64_t i = 0; i < 100; ++i)
            EXPECT_TRUE(queue.put(use_of(buffer(static_cast<std::uint64_t>(i)), 7, Time(i))));
        for (std::int64_t i = 0; i < 100; ++i) {
            auto const event = queue.take();
            ASSERT_TRUE(event.has_value());
            EXPECT_EQ(event->at, Time(i));
            EXPECT_EQ(event->range, buffer(static_cast<std::uint64_t>(i)));
        }
        EXPECT_TRUE(queue.is_empty());
    }
    EXPECT_EQ(queue.dropped(), 0U);
}

TEST(EventQueue, drops_what_does_not_fit_and_counts_it) {
    EventQueue queue;
    for (std::size_t i = 0; i < EventQueue::k_capacity; ++i)
        EXPECT_TRUE(queue.put(use_of(buffer(1), 7, Time(0))));
    EXPECT_FALSE(queue.put(use_of(buffer(1), 7, Time(1))));
    EXPECT_EQ(queue.dropped(), 1U);
    EXPECT_TRUE(queue.take().has_value());
    EXPECT_TRUE(queue.put(use_of(buffer(1), 7, Time(2))));
}

/// Each field of an event depends on its number, so a torn event shows.
TEST(EventQueue, two_threads_see_whole_events_in_order) {
    auto const queue = std::make_unique<EventQueue>();
    constexpr std::uint64_t k_events = 200'000;
    std::thread writer([&] {
        for (std::uint64_t i = 1; i <= k_events; ++i)
            while (!queue->put(use_of({i, i * 3}, i * 5, Time(static_cast<Time::rep>(i)))))
                std::this_thread::yield();
    });
    for (std::uint64_t i = 1; i <= k_events;) {
        auto const event = queue->take();
        if (!event) {
            std::this_thread::yield();
            continue;
        }
        ASSERT_EQ(event->at, Time(static_cast<Time::rep>(i)));
        ASSERT_EQ(event->range, (Range{i, i * 3}));
        ASSERT_EQ(event->frames[0], i * 5);
        ++i;
    }
    writer.join();
    EXPECT_TRUE(queue->is_empty());
}

}  // namespace

}  // namespace sluice::memory::registration
