// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/requests/owned_requests.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <deque>
#include <thread>
#include <vector>

#include "plugin/handles.hpp"
#include "plugin/services/owners_fixture.hpp"
#include "support/effort.hpp"

namespace sluice::plugin::tests {

namespace {

TEST(OwnedRequests, keeps_as_many_as_it_gets) {
    constexpr std::uintptr_t k_many = 100'000;
    std::deque<Fate> fates(k_many);
    OwnedRequests table;
    for (std::uintptr_t i = 0; i < k_many; ++i)
        table.add(handle_number(i + 1), std::make_shared<Owned>(fates[i], 1, false));
    for (std::uintptr_t i = 0; i < k_many; ++i) {
        std::shared_ptr<OwnedRequest> const found = table.find(handle_number(i + 1));
        ASSERT_NE(found, nullptr);
        ASSERT_EQ(found->handle(), handle_number(i + 1));
        if (i % 2 == 0) table.remove(*found);
    }
    for (std::uintptr_t i = 0; i < k_many; ++i) {
        EXPECT_EQ(table.find(handle_number(i + 1)) == nullptr, i % 2 == 0);
        EXPECT_EQ(fates[i].destroyed, i % 2 == 0 ? 1 : 0);
    }
    EXPECT_FALSE(table.empty());
}

TEST(OwnedRequests, a_handle_that_comes_again_stands_for_the_new_request) {
    Fate first;
    Fate second;
    OwnedRequests table;
    auto const old = std::make_shared<Owned>(first, 1, false);
    table.add(handle_number(1), old);
    table.add(handle_number(1), std::make_shared<Owned>(second, 1, false));
    EXPECT_NE(table.find(handle_number(1)), old);
    table.remove(*old);  // the thread that completed it is late
    EXPECT_FALSE(table.empty());
    table.remove(*table.find(handle_number(1)));
    EXPECT_EQ(second.destroyed, 1);
    EXPECT_TRUE(table.empty());
}

std::atomic<Handles*> handles{nullptr};

int give_back(MPI_Request* request) {
    handles.load()->give_back(*request);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int complete_at_once(MPI_Request* request, int* flag, MPI_Status*) {
    *flag = 1;
    return give_back(request);
}

TEST(OwnedRequests, several_threads_complete_each_its_own_and_every_one_once) {
    constexpr std::size_t k_threads = 4;
    std::size_t const rounds = static_cast<std::size_t>(sluice::tests::effort(20'000));
    Handles few;
    handles = &few;
    std::array<std::deque<Fate>, k_threads> fates;
    OwnedRequests table;
    Owners const owners{table, false, {complete_at_once, give_back}};
    auto const call_mpi = [&](std::size_t thread) {
        for (std::size_t round = 0; round < rounds; ++round) {
            Fate& fate = fates.at(thread).emplace_back();
            auto const owned = std::make_shared<Owned>(fate, 1, false);
            MPI_Request request = few.take();
            owned->set_part(0, request);
            table.add(request, owned);
            owners.poll();
            if (round % 5 == 0) {
                EXPECT_EQ(translation::free_request(owners, give_back, &request), MPI_SUCCESS);
                continue;
            }
            auto const cancels = [](MPI_Request*) { return MPI_SUCCESS; };
            if (round % 3 == 0) {
                EXPECT_EQ(translation::cancel(owners, cancels, &request), MPI_SUCCESS);
            }
            auto const wait = [](MPI_Request* part, MPI_Status*) { return give_back(part); };
            EXPECT_EQ(translation::wait(owners, wait, &request, MPI_STATUS_IGNORE), MPI_SUCCESS);
            EXPECT_EQ(request, MPI_REQUEST_NULL);
        }
    };
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < k_threads; ++thread)
        threads.emplace_back(call_mpi, thread);
    for (std::thread& thread : threads)
        thread.join();
    owners.poll();
    EXPECT_TRUE(table.empty());
    for (std::deque<Fate> const& of_thread : fates)
        for (Fate const& fate : of_thread)
            ASSERT_EQ(fate.completed * 10 + fate.destroyed, 11);
}

/// A service may keep something for MPI's own requests: half of the threads have requests that nothing is kept for.
TEST(OwnedRequests, a_thread_with_a_handle_of_another_threads_old_request_does_not_find_its_owner) {
    constexpr std::size_t k_threads = 4;
    std::size_t const rounds = static_cast<std::size_t>(sluice::tests::effort(20'000));
    Handles few;
    handles = &few;
    std::array<std::deque<Fate>, k_threads> fates;
    OwnedRequests table;
    Owners const owners{table, false, {complete_at_once, give_back}};
    auto const call_mpi = [&](std::size_t thread) {
        for (std::size_t round = 0; round < rounds; ++round) {
            MPI_Request request = few.take();
            MPI_Request const before = request;
            if (thread % 2 == 0) {
                auto const owned = std::make_shared<Owned>(fates.at(thread).emplace_back(), 1, false);
                owned->set_part(0, request);
                table.add(request, owned);
            }
            auto const wait = [](MPI_Request* part, MPI_Status*) {
                int const code = give_back(part);
                std::this_thread::yield();  // another thread has the handle before MPI's call returns
                return code;
            };
            auto const test = [](MPI_Request* part, int* flag, MPI_Status*) {
                return complete_at_once(part, flag, {});
            };
            auto const not_yet = [&](MPI_Request* part, int* flag, MPI_Status*) {
                EXPECT_EQ(*part, before);
                EXPECT_TRUE(thread % 2 == 0 || part == &request) << "MPI got the part of another thread's request";
                *flag = 0;
                return MPI_SUCCESS;
            };
            int flag = 1;
            translation::test(owners, not_yet, &request, &flag, MPI_STATUS_IGNORE);
            EXPECT_EQ(flag, 0);
            if (thread % 2 == 0) {
                EXPECT_NE(table.find(before), nullptr);
            }
            if (round % 2 == 0)
                translation::wait(owners, wait, &request, MPI_STATUS_IGNORE);
            else
                translation::test(owners, test, &request, &flag, MPI_STATUS_IGNORE);
            EXPECT_EQ(request, MPI_REQUEST_NULL);
        }
    };
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < k_threads; ++thread)
        threads.emplace_back(call_mpi, thread);
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_TRUE(table.empty());
    for (std::deque<Fate> const& of_thread : fates)
        for (Fate const& fate : of_thread)
            ASSERT_EQ(fate.completed * 10 + fate.destroyed, 11);
}

TEST(OwnedRequests, a_request_of_mpi_is_hidden_while_a_call_may_complete_it) {
    Fate over;
    Fate open;
    OwnedRequests table;
    Owners const owners{table, false, {complete_at_once, give_back}};
    std::array<MPI_Request, 2> requests{handle_number(1), handle_number(2)};
    for (std::size_t i = 0; i < 2; ++i) {
        auto const owned = std::make_shared<Owned>(i == 0 ? over : open, 1, false);
        owned->set_part(0, requests[i]);
        table.add(requests[i], owned);
    }
    auto const first_is_over = [&](int, MPI_Request* parts, int* index, MPI_Status*) {
        EXPECT_EQ(table.find(handle_number(1)), nullptr);
        EXPECT_EQ(table.find(handle_number(2)), nullptr);
        parts[0] = MPI_REQUEST_NULL;
        *index = 0;
        return MPI_SUCCESS;
    };
    int index = -1;
    EXPECT_EQ(translation::waitany(owners, first_is_over, 2, requests.data(), &index, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(index, 0);
    EXPECT_EQ(table.find(handle_number(1)), nullptr);
    EXPECT_NE(table.find(handle_number(2)), nullptr);
    EXPECT_EQ(over.completed + over.destroyed, 2);
    EXPECT_EQ(open.completed + open.destroyed, 0);
}

TEST(OwnedRequests, a_request_may_be_cancelled_and_looked_at_while_another_thread_waits_for_it) {
    Fate fate;
    OwnedRequests table;
    Owners const owners{table, false, {complete_at_once, give_back}};
    auto const owned = std::make_shared<Owned>(fate, 2, true);
    owned->set_part(0, handle_number(11));
    owned->set_part(1, handle_number(12));
    table.add(handle_number(10), owned);
    std::atomic<bool> waiting{true};
    std::thread other([&] {
        MPI_Request request = handle_number(10);
        while (waiting) {
            int flag = 0;
            translation::cancel(
                owners, [](MPI_Request*) { return MPI_SUCCESS; }, &request);
            auto const look = [](MPI_Request, int* is_over, MPI_Status*) {
                *is_over = 0;
                return MPI_SUCCESS;
            };
            translation::get_status(owners, look, handle_number(10), &flag, MPI_STATUS_IGNORE);
        }
    });
    auto const nothing = [](auto...) { return MPI_SUCCESS; };
    for (int round = 1; round <= 2'000; ++round) {
        MPI_Request request = handle_number(10);
        translation::start(owners, nothing, &request);
        translation::wait(owners, nothing, &request, MPI_STATUS_IGNORE);
        ASSERT_EQ(fate.completed, round);
    }
    waiting = false;
    other.join();
}

}  // namespace

}  // namespace sluice::plugin::tests
