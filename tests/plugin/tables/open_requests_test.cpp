// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/open_requests.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "plugin/handles.hpp"
#include "support/effort.hpp"

namespace sluice::plugin {

namespace {

struct Heard {
    Budget budget{64_MiB};
    std::atomic<std::int64_t> in_flight{0};
    std::atomic<std::int64_t> flights{0};
    std::atomic<std::uint64_t> own{0};
    std::atomic<std::uint64_t> late{0};
    std::uint64_t most_looked_at = ~std::uint64_t{0};
    LookShare looks{1};
    std::atomic<std::uint64_t> still_absent{0};
    LentBuffers buffers;
    std::atomic<std::int64_t> open{0};
    std::atomic<std::uint64_t> sent{0};

    void opened(std::uint32_t) noexcept { ++open; }
    void closed(std::uint32_t) noexcept { --open; }
    void flies(OpenRequest& request) noexcept {
        in_flight += static_cast<std::int64_t>(request.bytes);
        ++flights;
    }
    void landed(OpenRequest& request) noexcept { in_flight -= static_cast<std::int64_t>(request.bytes + request.come); }
    void came(std::uint32_t, std::uint64_t bytes) noexcept { in_flight += static_cast<std::int64_t>(bytes); }
    void sent_to(int, std::uint64_t bytes) noexcept { sent += bytes; }
    void own_pages(std::uint64_t bytes) noexcept { own += bytes; }
    void late_pages(std::uint64_t bytes) noexcept { late += bytes; }
    bool may_look(std::uint64_t span) const noexcept { return span <= most_looked_at; }
    LookShare& looks_at_all() noexcept { return looks; }
    LentBuffers& lent() noexcept { return buffers; }
    std::uint64_t absent(void const*, std::uint64_t) const noexcept { return still_absent; }
};
using Table = OpenRequests<Heard>;
using tests::handle_number;
using tests::Handles;

OpenRequest of_bytes(std::uint64_t bytes, bool persistent = false) {
    OpenRequest what;
    what.bytes = bytes;
    what.persistent = persistent;
    return what;
}

/// Receives into `buffer`, none of whose pages is there.
template <class Buffer>
OpenRequest into(Buffer& buffer, bool persistent = false) {
    OpenRequest what = of_bytes(8, persistent);
    what.buffer = buffer.data();
    what.span = buffer.size();
    what.absent = buffer.size();
    return what;
}

class SeveralThreads {
  public:
    SeveralThreads() { g_plugin.several_threads = true; }
    SeveralThreads(SeveralThreads const&) = delete;
    SeveralThreads& operator=(SeveralThreads const&) = delete;
    ~SeveralThreads() { g_plugin.several_threads = false; }
};

Handle identified(Table& table, MPI_Request request) {
    Handle handle{request, 0};
    table.identify(&handle, 1);
    return handle;
}

TEST(OpenRequests, bytes_are_in_flight_until_the_request_is_complete) {
    Heard heard;
    Table table(heard, heard.budget);
    table.add(handle_number(1), of_bytes(100));
    table.add(handle_number(2), of_bytes(20));
    EXPECT_EQ(heard.in_flight, 120);
    EXPECT_EQ(heard.open, 2);
    EXPECT_EQ(table.complete({handle_number(1), 0}), 100U);
    EXPECT_EQ(table.complete({handle_number(1), 0}), 0U);
    EXPECT_EQ(heard.in_flight, 20);
    EXPECT_EQ(heard.open, 1);
    table.forget({handle_number(2), 0});
    EXPECT_EQ(heard.in_flight, 0);
    EXPECT_TRUE(table.empty());
}

TEST(OpenRequests, persistent_ones_fly_while_they_are_active) {
    Heard heard;
    Table table(heard, heard.budget);
    MPI_Request const request = handle_number(1);
    table.add(request, of_bytes(100, true));
    EXPECT_EQ(heard.in_flight, 0);
    for (int round = 1; round <= 3; ++round) {
        EXPECT_TRUE(table.can_start(request));
        table.begin(&request, 1);
        EXPECT_FALSE(table.can_start(request));
        EXPECT_EQ(heard.in_flight, 100);
        table.complete({request, 0});
        EXPECT_EQ(heard.in_flight, 0);
        EXPECT_EQ(heard.flights, round);
        EXPECT_FALSE(table.empty());
    }
    table.begin(&request, 1);
    table.forget({request, 0});
    EXPECT_EQ(heard.in_flight, 0);
    EXPECT_FALSE(table.can_start(request));
    EXPECT_TRUE(table.empty());
}

TEST(OpenRequests, a_handle_that_comes_again_ends_the_request_before_it) {
    Heard heard;
    Table table(heard, heard.budget);
    table.add(handle_number(1), of_bytes(100));
    table.add(handle_number(1), of_bytes(7));
    EXPECT_EQ(heard.in_flight, 7);
    EXPECT_EQ(table.kept(), 1U);
}

TEST(OpenRequests, with_several_threads_a_late_completion_does_not_end_the_next_request_of_that_handle) {
    SeveralThreads const several;
    Heard heard;
    Table table(heard, heard.budget);
    table.add(handle_number(1), of_bytes(100));
    Handle const first = identified(table, handle_number(1));
    Handle const unknown = identified(table, handle_number(2));
    table.add(handle_number(1), of_bytes(7));
    table.add(handle_number(2), of_bytes(30));
    table.complete(first);
    table.complete(unknown);
    EXPECT_EQ(heard.in_flight, 37);
    table.complete(identified(table, handle_number(1)));
    EXPECT_EQ(heard.in_flight, 30);
}

TEST(OpenRequests, what_finds_no_room_is_counted_by_its_place_but_not_as_in_flight) {
    Heard heard;
    Table table(heard, heard.budget);
    constexpr std::uintptr_t k_all = Table::k_most_slots + 100;
    for (std::uintptr_t i = 1; i <= k_all; ++i)
        table.add(handle_number(i), of_bytes(1));
    EXPECT_EQ(table.kept(), Table::k_most);
    EXPECT_EQ(heard.in_flight, static_cast<std::int64_t>(Table::k_most));
    EXPECT_EQ(heard.open, static_cast<std::int64_t>(k_all));
    EXPECT_TRUE(table.has_dropped());
    for (std::uintptr_t i = 1; i <= k_all; ++i)
        table.complete({handle_number(i), 0});
    EXPECT_TRUE(table.empty());
    EXPECT_EQ(heard.in_flight, 0);
    EXPECT_EQ(heard.open, 0);
    EXPECT_EQ(table.marks(), 0U);
}

TEST(OpenRequests, persistent_ones_that_are_never_freed_leave_room_for_those_that_are_started) {
    Heard heard;
    Table table(heard, heard.budget);
    constexpr std::uintptr_t k_all = 3 * Table::k_most_slots;
    for (std::uintptr_t i = 1; i <= k_all; ++i) {
        MPI_Request const request = handle_number(i);
        table.add(request, of_bytes(100, true));
        table.begin(&request, 1);
        ASSERT_EQ(heard.in_flight, 100) << i;
        table.complete({request, 0});
    }
    EXPECT_EQ(heard.in_flight, 0);
    EXPECT_EQ(heard.open, static_cast<std::int64_t>(k_all)) << "each has a place";
    for (std::uintptr_t i = 1; i <= k_all; i += 2)
        table.forget({handle_number(i), 0});
    EXPECT_EQ(heard.open, static_cast<std::int64_t>(k_all / 2));
    for (std::uintptr_t i = 1; i <= k_all; ++i)
        ASSERT_EQ(table.can_start(handle_number(i)), i % 2 == 0) << i;
}

TEST(OpenRequests, a_persistent_send_is_sent_at_each_start) {
    Heard heard;
    Table table(heard, heard.budget);
    OpenRequest what = of_bytes(100, true);
    what.out = 100;
    what.destination = 1;
    OpenRequest nowhere = what;
    nowhere.destination = -1;
    MPI_Request const requests[]{handle_number(1), handle_number(2), handle_number(3)};
    table.add(requests[0], what);
    table.add(requests[1], nowhere);
    for (int round = 0; round < 3; ++round) {
        Begun const begun = table.begin(requests, 3);
        EXPECT_EQ(begun.out, 200U);
        EXPECT_EQ(begun.unplaced, 100U);
        EXPECT_EQ(table.begin(requests, 3).out, 0U) << "they are active";
        for (MPI_Request const request : requests)
            table.complete({request, 0});
    }
    EXPECT_EQ(heard.sent, 300U);
}

TEST(OpenRequests, what_has_come_of_a_message_is_in_flight_until_it_is_complete) {
    Heard heard;
    Table table(heard, heard.budget);
    OpenRequest what = of_bytes(0);
    what.absent = 8192;
    table.add(handle_number(1), what);
    heard.still_absent = 8192;
    table.find_own_pages();
    EXPECT_EQ(heard.in_flight, 0);
    heard.still_absent = 4096;
    table.find_own_pages(Handle{handle_number(1), 0});
    EXPECT_EQ(heard.in_flight, 4096);
    heard.still_absent = 0;
    table.complete({handle_number(1), 0});
    EXPECT_EQ(heard.in_flight, 0);
}

TEST(OpenRequests, an_empty_table_has_no_marks_whatever_the_order_of_removals) {
    std::mt19937 random(7);  // the same in each run
    Heard heard;
    Table table(heard, heard.budget);
    std::map<std::uintptr_t, std::uint64_t> model;
    int const steps = sluice::tests::effort(200'000);
    for (int step = 0; step < steps; ++step) {
        bool const filling = step / 8192 % 2 == 0;
        std::uintptr_t const number = 1 + random() % 3500;
        std::uint64_t const bytes = random() % 1000;
        if (random() % 4 != 0 ? filling : !filling) {
            bool const fits = model.count(number) > 0 || model.size() < Table::k_most;
            if (fits) model[number] = bytes;
            table.add(handle_number(number), of_bytes(bytes));
        } else if (model.erase(number) > 0) {
            table.complete({handle_number(number), 0});
        }
        ASSERT_EQ(table.kept(), model.size());
    }
    std::int64_t in_flight = 0;
    for (auto const& [number, bytes] : model)
        in_flight += static_cast<std::int64_t>(bytes);
    EXPECT_EQ(heard.in_flight, in_flight);
    for (auto const& [number, bytes] : model)
        table.forget({handle_number(number), 0});
    EXPECT_TRUE(table.empty());
    EXPECT_EQ(table.marks(), 0U);
    EXPECT_EQ(heard.in_flight, 0);
}

TEST(OpenRequests, pages_that_became_resident_are_the_programs_own_and_counted_once) {
    Heard heard;
    Table table(heard, heard.budget);
    OpenRequest what = of_bytes(8192);
    what.absent = 8192;
    table.add(handle_number(1), what);
    heard.still_absent = 4096;
    table.find_own_pages();
    table.find_own_pages();
    EXPECT_EQ(heard.own, 4096U);
    heard.still_absent = 0;
    table.complete({handle_number(1), 0});
    EXPECT_EQ(heard.own, 8192U);
}

TEST(OpenRequests, pages_of_requests_that_no_look_had_time_for_are_late) {
    Heard heard;
    Table table(heard, heard.budget);
    std::array<char, 8192> buffer;
    table.add(handle_number(1), into(buffer));
    heard.looks.looked(ticks(), std::uint64_t{1} << 40);
    table.find_own_pages();
    EXPECT_EQ(heard.own + heard.late, 0U);
    table.complete({handle_number(1), 0});
    EXPECT_EQ(heard.own, 0U);
    EXPECT_EQ(heard.late, 8192U);
}

TEST(OpenRequests, a_large_buffer_that_is_not_looked_at_when_its_message_has_come_stays_known) {
    Heard heard;
    Table table(heard, heard.budget);
    std::array<char, 8192> buffer;
    heard.most_looked_at = buffer.size() - 1;
    table.add(handle_number(1), into(buffer));
    EXPECT_FALSE(heard.buffers.has_without_look(buffer.data(), buffer.size()));
    table.complete({handle_number(1), 0});
    EXPECT_TRUE(heard.buffers.has_without_look(buffer.data(), buffer.size()));
    EXPECT_EQ(heard.own + heard.late, 0U);
}

TEST(OpenRequests, pages_of_a_large_buffer_that_a_look_at_all_left_out_are_late) {
    Heard heard;
    Table table(heard, heard.budget);
    std::array<char, 8192> buffer;
    table.add(handle_number(1), into(buffer));
    heard.most_looked_at = buffer.size() - 1;
    table.find_own_pages();
    EXPECT_EQ(heard.own + heard.late, 0U);
    heard.most_looked_at = buffer.size();
    table.find_own_pages();
    EXPECT_EQ(heard.own, 0U);
    EXPECT_EQ(heard.late, 8192U);
}

TEST(OpenRequests, pages_that_are_found_just_after_a_reading_are_late_and_later_ones_are_not) {
    Heard heard;
    Table table(heard, heard.budget);
    std::vector<char> buffer(16384);
    table.add(handle_number(1), into(buffer));
    heard.still_absent = 8192;
    table.find_late_pages();
    EXPECT_EQ(heard.own, 0U);
    EXPECT_EQ(heard.late, 8192U);
    heard.still_absent = 0;
    table.complete({handle_number(1), 0});
    EXPECT_EQ(heard.own, 8192U);
    EXPECT_EQ(heard.late, 8192U);
}

TEST(OpenRequests, a_persistent_one_that_is_not_looked_at_keeps_its_pages_to_itself) {
    Heard heard;
    Table table(heard, heard.budget);
    std::array<char, 8192> buffer;
    heard.most_looked_at = buffer.size() - 1;
    table.add(handle_number(1), into(buffer, true));
    MPI_Request const request = handle_number(1);
    table.begin(&request, 1);
    table.complete({request, 0});
    EXPECT_FALSE(heard.buffers.has_without_look(buffer.data(), buffer.size()));
}

TEST(OpenRequests, threads_that_get_each_others_handles_end_each_its_own_requests) {
    SeveralThreads const several;
    Heard heard;
    Table table(heard, heard.budget);
    Handles handles;
    int const rounds = sluice::tests::effort(20'000);
    auto const call_mpi = [&] {
        for (int round = 0; round < rounds; ++round) {
            MPI_Request const request = handles.take();
            table.add(request, of_bytes(10));
            Handle const handle = identified(table, request);
            handles.give_back(request);  // as MPI does within the completing call
            table.complete(handle);
            if (round % 64 == 0) table.find_own_pages();
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back(call_mpi);
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(heard.in_flight, 0);
    EXPECT_EQ(heard.flights, 4 * rounds);
    EXPECT_TRUE(table.empty());
}

TEST(OpenRequests, persistent_requests_of_several_threads) {
    SeveralThreads const several;
    Heard heard;
    Table table(heard, heard.budget);
    int const rounds = sluice::tests::effort(10'000);
    auto const call_mpi = [&](std::uintptr_t number) {
        MPI_Request const request = handle_number(number);
        table.add(request, of_bytes(number, true));
        for (int round = 0; round < rounds; ++round) {
            table.begin(&request, 1);
            table.complete(identified(table, request));
        }
        table.forget({request, 0});
    };
    std::vector<std::thread> threads;
    for (std::uintptr_t i = 1; i <= 4; ++i)
        threads.emplace_back(call_mpi, i);
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(heard.in_flight, 0);
    EXPECT_EQ(heard.flights, 4 * rounds);
    EXPECT_TRUE(table.empty());
}

}  // namespace

}  // namespace sluice::plugin
