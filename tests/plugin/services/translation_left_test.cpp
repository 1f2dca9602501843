// SPDX-License-Identifier: BSD-3-Clause
/// Calls that a function of the program leaves by an exception, out of MPI: it passes as it was thrown, what MPI has
/// ended before is complete, and the rest stays as it is.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <new>

#include "plugin/services/owners_fixture.hpp"

namespace sluice::plugin::tests {

namespace {

/// MPI ends the requests up to here, and calls a function of the program.
auto leaves_after(int ended) {
    return [ended](int count, MPI_Request* requests, auto...) -> int {
        for (int i = 0; i < ended && i < count; ++i)
            requests[i] = MPI_REQUEST_NULL;
        throw std::bad_alloc();
    };
}

class LeftCalls : public testing::Test {
  protected:
    Calls calls;
    Fate fate;
    MPI_Request const plain = calls.mpi.make(1);
    MPI_Request const owned = calls.own(fate, 10, 1);
    std::array<MPI_Request, 2> list{plain, owned};
    std::array<MPI_Status, 2> statuses{};
    int number = 0;
};

TEST_F(LeftCalls, nothing_was_ended) {
    EXPECT_THROW(translation::waitall(calls.owners(), leaves_after(0), 2, list.data(), statuses.data()),
                 std::bad_alloc);
    EXPECT_EQ(list[0], plain);
    EXPECT_EQ(list[1], owned);
    EXPECT_EQ(fate.completed, 0);
    EXPECT_NE(calls.table.find(owned), nullptr);
}

TEST_F(LeftCalls, the_first_was_ended) {
    EXPECT_THROW(translation::waitall(calls.owners(), leaves_after(1), 2, list.data(), statuses.data()),
                 std::bad_alloc);
    EXPECT_EQ(list[0], MPI_REQUEST_NULL);
    EXPECT_EQ(list[1], owned);
    EXPECT_EQ(fate.completed, 0);
}

TEST_F(LeftCalls, both_were_ended) {
    EXPECT_THROW(translation::waitall(calls.owners(), leaves_after(2), 2, list.data(), statuses.data()),
                 std::bad_alloc);
    EXPECT_EQ(list[0], MPI_REQUEST_NULL);
    EXPECT_EQ(list[1], MPI_REQUEST_NULL);
    EXPECT_EQ(fate.completed, 1);
    EXPECT_EQ(fate.destroyed, 1);
    EXPECT_TRUE(calls.table.empty());
}

TEST_F(LeftCalls, one_of_several_was_ended) {
    std::array<int, 2> indices{};
    EXPECT_THROW(
        translation::some(calls.owners(), leaves_after(1), 2, list.data(), &number, indices.data(), statuses.data()),
        std::bad_alloc);
    EXPECT_EQ(list[0], MPI_REQUEST_NULL);
    EXPECT_EQ(list[1], owned);
}

TEST_F(LeftCalls, a_wait_for_one_that_was_ended) {
    MPI_Request request = owned;
    auto const next = [](MPI_Request* part, MPI_Status*) -> int {
        *part = MPI_REQUEST_NULL;
        throw 7;
    };
    EXPECT_THROW(translation::wait(calls.owners(), next, &request, &statuses[0]), int);
    EXPECT_EQ(request, MPI_REQUEST_NULL);
    EXPECT_EQ(fate.completed, 1);
    EXPECT_TRUE(calls.table.empty());
}

TEST_F(LeftCalls, a_wait_for_one_that_was_not) {
    MPI_Request request = owned;
    auto const next = [](MPI_Request*, MPI_Status*) -> int { throw 7; };
    EXPECT_THROW(translation::wait(calls.owners(), next, &request, &statuses[0]), int);
    EXPECT_EQ(request, owned);
    EXPECT_EQ(fate.completed, 0);
    EXPECT_NE(calls.table.find(owned), nullptr);
}

TEST_F(LeftCalls, what_the_program_has_freed_is_kept) {
    MPI_Request request = owned;
    MPI_Request other = calls.own(fate, 20, 1);
    std::array const parts{calls.part(owned, 0), calls.part(other, 0)};
    calls.free_request(&request);
    calls.free_request(&other);
    RequestCalls const left{[](MPI_Request*, int*, MPI_Status*) -> int { throw 7; }, nullptr};
    EXPECT_THROW(calls.table.poll(left), int);
    EXPECT_EQ(fate.destroyed, 0);
    EXPECT_FALSE(calls.table.empty());
    for (MPI_Request const part : parts)
        calls.mpi[part].ready = true;
    calls.table.poll(calls.request_calls());
    EXPECT_EQ(fate.destroyed, 2);
    EXPECT_TRUE(calls.table.empty());
}

}  // namespace

}  // namespace sluice::plugin::tests
