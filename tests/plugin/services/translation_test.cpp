// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/requests/translation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "plugin/services/owners_fixture.hpp"

namespace sluice::plugin::tests {

namespace {

constexpr int k_untouched = 7777;

MPI_Status untouched() {
    MPI_Status status{};
    status.MPI_SOURCE = k_untouched;
    status.MPI_TAG = k_untouched;
    status.MPI_ERROR = k_untouched;
    return status;
}

void expect_ended(Calls& calls, Fate const& fate, MPI_Request handle) {
    EXPECT_EQ(handle, MPI_REQUEST_NULL);
    EXPECT_EQ(fate.completed, 1);
    EXPECT_EQ(fate.destroyed, 1);
    EXPECT_EQ(calls.mpi.open(), 0U);
    EXPECT_TRUE(calls.table.empty());
}

TEST(Translation, wait_completes_all_parts_and_the_status_is_that_of_the_last) {
    Fate fate;
    Calls calls;
    MPI_Request request = calls.own(fate, 10, 3);
    MPI_Status status = untouched();
    EXPECT_EQ(calls.wait(&request, &status), MPI_SUCCESS);
    EXPECT_EQ(status.MPI_TAG, 12);
    EXPECT_EQ(status.MPI_ERROR, k_untouched);
    expect_ended(calls, fate, request);
}

TEST(Translation, a_request_that_nothing_is_known_of_goes_to_mpi_as_it_is) {
    Calls calls;
    MPI_Request request = calls.mpi.make(5);
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Status status = untouched();
    EXPECT_EQ(calls.wait(&request, &status), MPI_SUCCESS);
    EXPECT_EQ(status.MPI_TAG, 5);
    EXPECT_EQ(calls.wait(&none, MPI_STATUS_IGNORE), MPI_SUCCESS);
}

TEST(Translation, test_is_true_when_the_last_part_is_complete) {
    Fate fate;
    Calls calls;
    MPI_Request request = calls.own(fate, 10, 2);
    MPI_Request const ticket = request;
    int flag = -1;
    calls.let_be_ready(ticket, 0);
    EXPECT_EQ(calls.test(&request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(flag, 0);
    EXPECT_EQ(request, ticket);
    EXPECT_EQ(fate.completed, 0);
    calls.let_be_ready(ticket, 1);
    EXPECT_EQ(calls.test(&request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(flag, 1);
    expect_ended(calls, fate, request);
}

TEST(Translation, memory_kept_for_a_request_of_mpi_ends_with_it) {
    Fate fate;
    Calls calls;
    MPI_Request request = calls.keep_for(fate, 4);
    MPI_Status status = untouched();
    EXPECT_EQ(calls.waitall(1, &request, &status), MPI_SUCCESS);
    EXPECT_EQ(status.MPI_TAG, 4);
    expect_ended(calls, fate, request);
}

/// { owned, foreign, null, idle persistent of the program, idle owned, owned }
struct Mixed {
    std::array<Fate, 3> fates;
    Calls calls;
    MPI_Request idle = calls.mpi.make(40, true);
    MPI_Request idle_owned = calls.own(fates[2], 50, 2, true);
    std::array<MPI_Request, 6> requests{
        calls.own(fates[0], 10, 3), calls.mpi.make(20), MPI_REQUEST_NULL, idle, idle_owned, calls.own(fates[1], 30, 2)};
    void expect_all_complete() {
        EXPECT_EQ(requests, (std::array<MPI_Request, 6>{MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, idle,
                                                        idle_owned, MPI_REQUEST_NULL}));
        for (std::size_t i : {0U, 1U})
            EXPECT_EQ(fates[i].completed * 10 + fates[i].destroyed, 11);
        EXPECT_EQ(fates[2].completed, 0);
        EXPECT_EQ(calls.free_request(&idle_owned), MPI_SUCCESS);
        EXPECT_EQ(fates[2].destroyed, 1);
        EXPECT_TRUE(calls.table.empty());
    }
};

TEST(Translation, waitall_of_a_mixed_list) {
    Mixed mixed;
    std::array<MPI_Status, 6> statuses;
    statuses.fill(untouched());
    EXPECT_EQ(mixed.calls.waitall(6, mixed.requests.data(), statuses.data()), MPI_SUCCESS);
    std::array<int, 6> const tags{12, 20, MPI_ANY_TAG, MPI_ANY_TAG, MPI_ANY_TAG, 31};
    for (std::size_t i = 0; i < tags.size(); ++i) {
        EXPECT_EQ(statuses[i].MPI_TAG, tags[i]) << i;
        EXPECT_EQ(statuses[i].MPI_ERROR, k_untouched) << i;
    }
    mixed.expect_all_complete();
}

TEST(Translation, testall_completes_none_or_all) {
    Mixed mixed;
    int flag = -1;
    mixed.calls.let_be_ready(mixed.requests[0], 0);
    auto const before = mixed.requests;
    EXPECT_EQ(mixed.calls.testall(6, mixed.requests.data(), &flag, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(flag, 0);
    EXPECT_EQ(mixed.requests, before);
    for (std::size_t i : {0U, 1U, 2U})
        mixed.calls.let_be_ready(mixed.requests[0], i);
    for (std::size_t i : {0U, 1U})
        mixed.calls.let_be_ready(mixed.requests[5], i);
    mixed.calls.mpi[mixed.requests[1]].ready = true;
    EXPECT_EQ(mixed.calls.testall(6, mixed.requests.data(), &flag, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(flag, 1);
    mixed.expect_all_complete();
}

TEST(Translation, waitany_gives_each_once_and_then_undefined) {
    Mixed mixed;
    std::array<int, 6> seen{};
    for (;;) {
        int index = -1;
        MPI_Status status = untouched();
        EXPECT_EQ(mixed.calls.waitany(6, mixed.requests.data(), &index, &status), MPI_SUCCESS);
        if (index == MPI_UNDEFINED) break;
        ++seen.at(static_cast<std::size_t>(index));
        std::array<int, 6> const tags{12, 20, 0, 0, 0, 31};
        EXPECT_EQ(status.MPI_TAG, tags[static_cast<std::size_t>(index)]);
    }
    EXPECT_EQ(seen, (std::array<int, 6>{1, 1, 0, 0, 0, 1}));
    mixed.expect_all_complete();
}

TEST(Translation, testany_keeps_what_it_learnt_of_parts) {
    Mixed mixed;
    int index = -1;
    int flag = -1;
    MPI_Request const ticket = mixed.requests[5];
    MPI_Request const first = mixed.calls.part(ticket, 0);
    mixed.calls.let_be_ready(ticket, 0);
    EXPECT_EQ(mixed.calls.testany(6, mixed.requests.data(), &index, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(flag, 0);
    EXPECT_EQ(index, MPI_UNDEFINED);
    EXPECT_FALSE(mixed.calls.mpi.knows(first)) << "MPI has completed this part";
    mixed.calls.let_be_ready(ticket, 1);
    MPI_Status status = untouched();
    EXPECT_EQ(mixed.calls.get_status(ticket, &flag, &status), MPI_SUCCESS);
    EXPECT_EQ(flag, 1);
    EXPECT_EQ(status.MPI_TAG, 31);
    EXPECT_EQ(mixed.calls.testany(6, mixed.requests.data(), &index, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(flag, 1);
    EXPECT_EQ(index, 5);
    EXPECT_EQ(mixed.calls.waitall(6, mixed.requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
    mixed.expect_all_complete();
}

TEST(Translation, waitsome_gives_requests_not_parts) {
    Mixed mixed;
    std::array<int, 6> seen{};
    for (;;) {
        int number = -1;
        std::array<int, 6> indices{};
        std::array<MPI_Status, 6> statuses;
        statuses.fill(untouched());
        EXPECT_EQ(mixed.calls.waitsome(6, mixed.requests.data(), &number, indices.data(), statuses.data()),
                  MPI_SUCCESS);
        if (number == MPI_UNDEFINED) break;
        EXPECT_GT(number, 0);
        for (std::size_t i = 0; i < static_cast<std::size_t>(number); ++i) {
            ++seen.at(static_cast<std::size_t>(indices.at(i)));
            EXPECT_EQ(statuses.at(i).MPI_TAG,
                      (std::array<int, 6>{12, 20, 0, 0, 0, 31})[static_cast<std::size_t>(indices[i])]);
            EXPECT_EQ(statuses.at(i).MPI_ERROR, k_untouched);
        }
    }
    EXPECT_EQ(seen, (std::array<int, 6>{1, 1, 0, 0, 0, 1}));
    mixed.expect_all_complete();
}

TEST(Translation, testsome_finds_none_while_parts_are_missing) {
    Mixed mixed;
    int number = -1;
    std::array<int, 6> indices{};
    mixed.calls.let_be_ready(mixed.requests[0], 1);
    EXPECT_EQ(mixed.calls.testsome(6, mixed.requests.data(), &number, indices.data(), MPI_STATUSES_IGNORE),
              MPI_SUCCESS);
    EXPECT_EQ(number, 0);
    EXPECT_EQ(mixed.calls.waitall(6, mixed.requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
    mixed.expect_all_complete();
}

TEST(Translation, an_error_of_a_part_is_the_error_of_its_request) {
    Mixed mixed;
    mixed.calls.mpi[mixed.calls.part(mixed.requests[0], 1)].error = MPI_ERR_TRUNCATE;
    std::array<MPI_Status, 6> statuses;
    statuses.fill(untouched());
    EXPECT_EQ(mixed.calls.waitall(6, mixed.requests.data(), statuses.data()), MPI_ERR_IN_STATUS);
    for (std::size_t i = 0; i < statuses.size(); ++i)
        EXPECT_EQ(statuses[i].MPI_ERROR, i == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS) << i;
    mixed.expect_all_complete();
}

TEST(Translation, an_mpi_that_writes_success_into_statuses_does_so_for_owned_requests) {
    for (bool const writes : {false, true}) {
        Fate fate;
        Calls calls;
        calls.mpi.writes_errors = writes;
        std::array<MPI_Request, 2> all{calls.own(fate, 10, 2), calls.mpi.make(20)};
        std::array<MPI_Status, 2> statuses;
        statuses.fill(untouched());
        EXPECT_EQ(calls.waitall(2, all.data(), statuses.data()), MPI_SUCCESS);
        for (MPI_Status const& status : statuses)
            EXPECT_EQ(status.MPI_ERROR, writes ? MPI_SUCCESS : k_untouched);
        all = {calls.own(fate, 30, 2), calls.mpi.make(40)};
        for (int found = 0; found < 2;) {
            int number = 0;
            std::array<int, 2> indices{};
            statuses.fill(untouched());
            EXPECT_EQ(calls.waitsome(2, all.data(), &number, indices.data(), statuses.data()), MPI_SUCCESS);
            EXPECT_EQ(statuses[0].MPI_ERROR, writes ? MPI_SUCCESS : k_untouched);
            found += number;
        }
    }
}

TEST(Translation, single_and_some_calls_tell_errors_as_mpi_does) {
    for (int way = 0; way < 4; ++way) {
        Fate fate;
        Calls calls;
        MPI_Request request = calls.own(fate, 10, 2);
        calls.mpi[calls.part(request, 0)].error = MPI_ERR_TRUNCATE;
        MPI_Status status = untouched();
        int index = -1;
        int flag = -1;
        if (way == 0) {
            EXPECT_EQ(calls.wait(&request, &status), MPI_ERR_TRUNCATE);
        }
        if (way == 1) {
            EXPECT_EQ(calls.waitany(1, &request, &index, &status), MPI_ERR_TRUNCATE);
        }
        if (way == 2) {
            EXPECT_EQ(calls.waitsome(1, &request, &flag, &index, &status), MPI_ERR_IN_STATUS);
        }
        if (way == 3) {
            calls.let_be_ready(request, 0);
            EXPECT_EQ(calls.test(&request, &flag, &status), MPI_SUCCESS);
            calls.let_be_ready(request, 1);
            EXPECT_EQ(calls.test(&request, &flag, &status), MPI_ERR_TRUNCATE);
        }
        EXPECT_EQ(status.MPI_ERROR, way == 2 ? MPI_ERR_TRUNCATE : k_untouched) << way;
        expect_ended(calls, fate, request);
    }
}

TEST(Translation, persistent_requests_start_and_end_again_and_again) {
    Fate fate;
    Calls calls;
    MPI_Request request = calls.own(fate, 10, 2, true);
    MPI_Request const ticket = request;
    std::array<MPI_Request, 2> requests{ticket, calls.mpi.make(20, true)};
    for (int round = 1; round <= 3; ++round) {
        EXPECT_EQ(round % 2 == 0 ? calls.startall(2, requests.data()) : calls.start(requests.data()), MPI_SUCCESS);
        if (round % 2 != 0) {
            EXPECT_EQ(calls.start(&requests[1]), MPI_SUCCESS);
        }
        EXPECT_EQ(calls.mpi[calls.part(ticket, 0)].started, round);
        MPI_Status status = untouched();
        EXPECT_EQ(calls.wait(&request, &status), MPI_SUCCESS);
        EXPECT_EQ(status.MPI_TAG, 11);
        EXPECT_EQ(request, ticket);
        EXPECT_EQ(fate.completed, round);
        EXPECT_EQ(calls.wait(&request, &status), MPI_SUCCESS) << "an inactive one is complete";
        EXPECT_EQ(status.MPI_TAG, MPI_ANY_TAG);
        EXPECT_EQ(calls.wait(&requests[1], MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
    EXPECT_EQ(fate.destroyed, 0);
    EXPECT_EQ(calls.free_request(&request), MPI_SUCCESS);
    EXPECT_EQ(fate.destroyed, 1);
    EXPECT_EQ(calls.mpi.open(), 1U);
}

TEST(Translation, cancel_reaches_every_part) {
    Fate fate;
    Calls calls;
    MPI_Request request = calls.own(fate, 10, 2);
    EXPECT_EQ(calls.cancel(&request), MPI_SUCCESS);
    for (std::size_t i : {0U, 1U})
        EXPECT_EQ(calls.mpi[calls.part(request, i)].cancels, 1);
    EXPECT_EQ(calls.wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    expect_ended(calls, fate, request);
}

TEST(Translation, a_request_freed_while_active_is_kept_until_mpi_has_completed_it) {
    for (bool const persistent : {false, true}) {
        Fate fate;
        Calls calls;
        MPI_Request request = calls.own(fate, 10, 2, persistent);
        if (persistent) {
            EXPECT_EQ(calls.start(&request), MPI_SUCCESS);
        }
        std::array<MPI_Request, 2> const parts{calls.part(request, 0), calls.part(request, 1)};
        EXPECT_EQ(calls.free_request(&request), MPI_SUCCESS);
        EXPECT_EQ(request, MPI_REQUEST_NULL);
        calls.mpi[parts[1]].ready = true;
        calls.table.poll(calls.request_calls());
        EXPECT_EQ(fate.completed, 0);
        EXPECT_FALSE(calls.table.empty());
        calls.mpi[parts[0]].ready = true;
        calls.table.poll(calls.request_calls());
        expect_ended(calls, fate, request);
    }
}

TEST(Translation, what_never_completes_is_left_to_mpi_at_the_end_with_its_memory) {
    Fate fate;
    {
        Calls calls;
        MPI_Request request = calls.own(fate, 10, 2);
        EXPECT_EQ(calls.free_request(&request), MPI_SUCCESS);
        calls.table.leave_freed_to_mpi(calls.request_calls());
        EXPECT_EQ(calls.mpi.open(), 0U);
        EXPECT_TRUE(calls.table.empty());
        EXPECT_EQ(fate.destroyed, 0);
    }
    EXPECT_EQ(fate.completed, 0);
}

TEST(Translation, a_nested_call_leaves_requests_of_mpi_to_the_outer_one) {
    Fate kept;
    Fate owned;
    Calls calls(true);
    MPI_Request of_mpi = calls.keep_for(kept, 4);
    MPI_Request ticket = calls.own(owned, 10, 2);
    EXPECT_EQ(calls.wait(&of_mpi, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(kept.completed, 0);
    EXPECT_EQ(calls.wait(&ticket, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(owned.completed, 1);
}

TEST(Translation, a_nested_call_tells_the_requests_that_it_asks_for) {
    Fate fate;
    Fate other;
    for (bool const nested : {false, true}) {
        Calls calls(nested);
        fate = other = Fate();
        MPI_Request of_mpi = calls.keep_for(fate, 4);
        std::array requests{calls.own(fate, 10, 2), calls.keep_for(fate, 20)};
        calls.own(other, 30, 1);
        EXPECT_EQ(calls.wait(&of_mpi, MPI_STATUS_IGNORE), MPI_SUCCESS);
        EXPECT_EQ(calls.waitall(2, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
        EXPECT_EQ(fate.asked_inside, nested ? 3 : 0);
        EXPECT_EQ(other.asked_inside, 0);
    }
}

TEST(Translation, a_persistent_request_is_not_that_of_mpi_while_another_is_its_part) {
    Fate fate;
    Calls calls(true);
    MPI_Request handle = calls.mpi.make(4, true);
    auto const owned = std::make_shared<Owned>(fate, 1, true);
    owned->set_part(0, handle);
    calls.table.add(handle, owned);
    EXPECT_TRUE(owned->is_mpi_request());
    owned->set_part(0, calls.mpi.make(5));
    owned->start();
    EXPECT_FALSE(owned->is_mpi_request());
    EXPECT_EQ(calls.wait(&handle, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(fate.completed, 1);
    EXPECT_FALSE(owned->active());
}

TEST(Translation, partitions_go_to_the_part_that_holds_them) {
    Fate fate;
    Calls calls;
    MPI_Request request = calls.own(fate, 10, 2, true);
    std::vector<std::pair<int, int>> ready;  // tag of the part, number in it
    auto const of = [&](int number, MPI_Request part) {
        ready.emplace_back(calls.mpi[part].tag, number);
        return MPI_SUCCESS;
    };
    translation::ready(calls.owners(), of, 3, request);
    translation::ready_range(
        calls.owners(), [&](int low, int, MPI_Request part) { return of(low, part); }, 0, 1, request);
    std::array<int, 2> const list{5, 2};
    translation::ready_list(
        calls.owners(), [&](int, int const* numbers, MPI_Request part) { return of(*numbers, part); }, 2, list.data(),
        request);
    int flag = 0;
    translation::arrived(
        calls.owners(), [&](MPI_Request part, int number, int*) { return of(number, part); }, request, 4, &flag);
    EXPECT_EQ(ready, (std::vector<std::pair<int, int>>{{11, 1}, {10, 0}, {11, 0}, {11, 2}, {10, 1}, {10, 2}}));
}

}  // namespace

}  // namespace sluice::plugin::tests
