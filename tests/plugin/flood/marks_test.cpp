// SPDX-License-Identifier: BSD-3-Clause
// Synchronous sends over an MPI that exists in the test alone, and counts what it is asked.
#include "straight.h"  // first: handles as the plugin sees them

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "plugin/binding/plugin.hpp"
#include "plugin/services/flood/marks.hpp"

namespace sluice::plugin {
namespace {

enum class State { open, matched };
std::vector<State> g_sends;
std::size_t g_looks = 0;
bool g_refuses = false;
constexpr int k_first = 1000;  // the request of the first send, as a number

int issend(void const*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request* request) {
    if (g_refuses) return MPI_ERR_OTHER;
    int const number = k_first + static_cast<int>(g_sends.size());
    g_sends.push_back(State::open);
    std::memset(static_cast<void*>(request), 0, sizeof *request);
    std::memcpy(static_cast<void*>(request), &number, sizeof number);
    return MPI_SUCCESS;
}

int test(MPI_Request* request, int* done, MPI_Status*) {
    ++g_looks;
    int number = 0;
    std::memcpy(&number, static_cast<void const*>(request), sizeof number);
    *done = static_cast<int>(g_sends.at(static_cast<std::size_t>(number - k_first)) == State::matched);
    if (*done != 0) *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int free_request(MPI_Request* request) {
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

class MarksTest : public testing::Test {
  protected:
    MarksTest() {
        g_sends.clear();
        g_looks = 0;
        g_refuses = false;
        g_plugin.libmpi.PMPI_Issend = issend;
        g_plugin.libmpi.PMPI_Test = test;
        g_plugin.libmpi.PMPI_Request_free = free_request;
    }
    ~MarksTest() override { g_plugin.libmpi = Libmpi{}; }

    /// As flood control does at each mark.
    std::shared_ptr<Mark> sweep_and_send() {
        static char const data[k_bytes] = {};
        marks_.sweep();
        return marks_.send(Message{data, k_bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, k_bytes, true});
    }

    static constexpr int k_bytes = 1000;
    static constexpr std::size_t k_many = 3000;
    Budget budget_{64_MiB};
    Marks marks_{budget_};
};

TEST_F(MarksTest, each_send_looks_at_few_of_those_that_a_receiver_leaves_waiting) {
    for (std::size_t i = 0; i < k_many; ++i)
        ASSERT_NE(sweep_and_send(), nullptr);
    EXPECT_LE(g_looks, 4 * k_many);
    EXPECT_GE(g_looks, k_many);  // so that none is forgotten
}

TEST_F(MarksTest, copies_are_freed_within_so_many_sends_as_were_left) {
    for (std::size_t i = 0; i < k_many; ++i)
        ASSERT_NE(sweep_and_send(), nullptr);
    EXPECT_GE(budget_.held(Purpose::staging), Bytes{k_many * k_bytes});
    for (std::size_t i = 0; i < k_many / 2; ++i) {
        for (State& state : g_sends)
            state = State::matched;
        ASSERT_NE(sweep_and_send(), nullptr);
    }
    EXPECT_LE(budget_.held(Purpose::staging), Bytes{std::uint64_t{8} * k_bytes});
}

TEST_F(MarksTest, those_matched_out_of_order_are_freed_and_the_others_kept) {
    std::vector<std::shared_ptr<Mark>> sent;
    for (std::size_t i = 0; i < 99; ++i)
        sent.push_back(sweep_and_send());
    for (std::size_t i = 0; i < sent.size(); i += 3)
        g_sends[i] = State::matched;
    for (std::size_t i = 0; i < sent.size(); ++i)
        marks_.sweep();
    for (std::size_t i = 0; i < sent.size(); ++i) {
        EXPECT_EQ(sent[i]->is_done(), i % 3 == 0) << i;
        EXPECT_EQ(sent[i]->copy == nullptr, i % 3 == 0) << i;
    }
}

TEST_F(MarksTest, a_send_that_mpi_refuses_leaves_nothing) {
    g_refuses = true;
    EXPECT_EQ(sweep_and_send(), nullptr);
    EXPECT_EQ(budget_.held(Purpose::staging), 0_B);
    marks_.sweep();
    EXPECT_EQ(g_looks, 0U);
}

TEST_F(MarksTest, at_the_end_what_is_matched_is_freed_and_the_rest_is_left_to_mpi) {
    auto const matched = sweep_and_send();
    auto const open = sweep_and_send();
    memory::LeasedBytes const freed_here(open->copy.get());  // what MPI reads from stays, so that it may
    g_sends.front() = State::matched;
    marks_.leave_to_mpi();
    EXPECT_EQ(matched->copy, nullptr);
    EXPECT_TRUE(open->is_done());
    marks_.sweep();
    EXPECT_EQ(g_looks, 2U + 1U);
}

}  // namespace
}  // namespace sluice::plugin
