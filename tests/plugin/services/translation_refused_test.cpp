// SPDX-License-Identifier: BSD-3-Clause
/// Calls that MPI refuses, on requests that a service owns: they reach MPI as the program made them, once, and the
/// requests stay as they are.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <tuple>
#include <utility>

#include "plugin/services/owners_fixture.hpp"

namespace sluice::plugin::tests {

namespace {

/// An MPI that refuses each call, and keeps what it was given.
struct Refusing {
    int calls = 0;
    MPI_Request seen = MPI_REQUEST_NULL;

    auto of_one() {
        return [this](MPI_Request* request, auto...) { return refuse(*request); };
    }
    auto of_handle() {
        return [this](MPI_Request request, auto...) { return refuse(request); };
    }
    auto of_list() {
        return [this](int, MPI_Request* requests, auto...) { return refuse(requests[0]); };
    }
    int refuse(MPI_Request request) {
        ++calls;
        seen = request;
        return MPI_ERR_ARG;
    }
};

class RefusedCalls : public testing::Test {
  protected:
    /// One refused call: MPI has seen the program's handle, and nothing was completed.
    void expect_refused(int code) {
        EXPECT_EQ(code, MPI_ERR_ARG);
        EXPECT_EQ(mpi.calls, 1);
        EXPECT_EQ(mpi.seen, request);
        EXPECT_EQ(list[0], request);
        EXPECT_EQ(fate.completed, 0);
        EXPECT_NE(calls.table.find(request), nullptr);
        mpi = Refusing();
    }

    Calls calls;
    Refusing mpi;
    Fate fate;
    MPI_Request const request = calls.own(fate, 10, 2);
    std::array<MPI_Request, 2> list{request, MPI_REQUEST_NULL};
    std::array<MPI_Status, 2> statuses{};
    std::array<int, 2> indices{};
    int flag = 7;
    int number = 7;
};

TEST_F(RefusedCalls, without_a_place_for_their_answer_go_on_as_they_are) {
    using namespace translation;
    Owners const owners = calls.owners();
    expect_refused(test(owners, mpi.of_one(), list.data(), nullptr, statuses.data()));
    expect_refused(get_status(owners, mpi.of_handle(), request, nullptr, statuses.data()));
    expect_refused(testall(owners, mpi.of_list(), 2, list.data(), nullptr, statuses.data()));
    expect_refused(testany(owners, mpi.of_list(), 2, list.data(), nullptr, &flag, statuses.data()));
    expect_refused(testany(owners, mpi.of_list(), 2, list.data(), &number, nullptr, statuses.data()));
    expect_refused(waitany(owners, mpi.of_list(), 2, list.data(), nullptr, statuses.data()));
    expect_refused(some(owners, mpi.of_list(), 2, list.data(), nullptr, indices.data(), statuses.data()));
    expect_refused(some(owners, mpi.of_list(), 2, list.data(), &number, nullptr, statuses.data()));
    EXPECT_EQ(flag, 7);
    EXPECT_EQ(number, 7);
}

TEST_F(RefusedCalls, without_a_status_go_on_as_they_are) {
    MPI_Status const* const ignore = MPI_STATUS_IGNORE;
    if (ignore == nullptr) return;  // a null pointer is right
    using namespace translation;
    Owners const owners = calls.owners();
    expect_refused(wait(owners, mpi.of_one(), list.data(), nullptr));
    expect_refused(test(owners, mpi.of_one(), list.data(), &flag, nullptr));
    expect_refused(get_status(owners, mpi.of_handle(), request, &flag, nullptr));
    expect_refused(waitall(owners, mpi.of_list(), 2, list.data(), nullptr));
    expect_refused(testall(owners, mpi.of_list(), 2, list.data(), &flag, nullptr));
    expect_refused(waitany(owners, mpi.of_list(), 2, list.data(), &number, nullptr));
    expect_refused(testany(owners, mpi.of_list(), 2, list.data(), &number, &flag, nullptr));
    expect_refused(some(owners, mpi.of_list(), 2, list.data(), &number, indices.data(), nullptr));
    EXPECT_EQ(flag, 7);
    EXPECT_EQ(number, 7);
}

TEST_F(RefusedCalls, that_start_what_is_active_keep_its_handle) {
    MPI_Request const part = calls.part(request, 0);
    EXPECT_EQ(translation::start(calls.owners(), mpi.of_one(), list.data()), MPI_ERR_ARG);
    EXPECT_EQ(mpi.seen, part);
    std::array<MPI_Request, 2> started{request, calls.mpi.make(20, true)};
    EXPECT_EQ(translation::startall(calls.owners(), mpi.of_list(), 2, started.data()), MPI_ERR_ARG);
    EXPECT_EQ(mpi.seen, part);
    EXPECT_EQ(mpi.calls, 2);
    EXPECT_EQ(list[0], request);
    EXPECT_EQ(started[0], request);
    EXPECT_TRUE(calls.table.find(request)->active());
}

TEST_F(RefusedCalls, on_no_partitions_are_for_mpi_to_judge) {
    MPI_Request const part = calls.part(request, 0);
    auto const refuse = [&](auto... all) { return mpi.refuse(std::get<sizeof...(all) - 1>(std::tuple(all...))); };
    Owners const owners = calls.owners();
    EXPECT_EQ(translation::ready_range(owners, refuse, 3, 1, request), MPI_ERR_ARG);
    EXPECT_EQ(mpi.seen, part);
    EXPECT_EQ(translation::ready_list(owners, refuse, 0, indices.data(), request), MPI_ERR_ARG);
    EXPECT_EQ(translation::ready_list(owners, refuse, 1, static_cast<int*>(nullptr), request), MPI_ERR_ARG);
    EXPECT_EQ(mpi.calls, 3);
}

/// Memory for MPI's own request of a nonblocking collective call.
class Collective final : public OwnedRequest {
  public:
    explicit Collective(int& destroyed) : OwnedRequest(1, false), destroyed_(&destroyed) {}
    ~Collective() override { ++*destroyed_; }
    bool is_collective() const noexcept override { return true; }

  private:
    int* destroyed_;
};

TEST(Translation, mpi_refuses_to_free_a_collective_call_or_keeps_its_memory) {
    int destroyed = 0;
    {
        Calls calls;
        MPI_Request request = calls.mpi.make(5);
        MPI_Request const made = request;
        auto owned = std::make_shared<Collective>(destroyed);
        owned->set_part(0, made);
        calls.table.add(made, std::move(owned));
        auto const refuses = [](MPI_Request*) { return MPI_ERR_REQUEST; };
        auto const accepts = [](MPI_Request* freed) {
            *freed = MPI_REQUEST_NULL;
            return MPI_SUCCESS;
        };
        EXPECT_EQ(translation::free_request(calls.owners(), refuses, &request), MPI_ERR_REQUEST);
        EXPECT_EQ(request, made);
        EXPECT_NE(calls.table.find(made), nullptr);
        EXPECT_EQ(translation::free_request(calls.owners(), accepts, &request), MPI_SUCCESS);
        EXPECT_EQ(request, MPI_REQUEST_NULL);
        EXPECT_TRUE(calls.table.empty());
        EXPECT_EQ(destroyed, 0);
    }
    EXPECT_EQ(destroyed, 1);
}

}  // namespace

}  // namespace sluice::plugin::tests
