// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/cell.hpp"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

#include "support/needs_ranks.hpp"

namespace sluice::bench {
namespace {

constexpr std::size_t k_bytes = 300007;  // two strips, and no whole number of words

int rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

OverlapPlan plan_of(OverlapWork work, std::vector<OverlapMethod> methods) {
    OverlapPlan plan;
    plan.work = work;
    plan.bytes = k_bytes;
    plan.warm_up = 2;
    plan.pairs = 3;
    plan.methods = std::move(methods);
    return plan;
}

int receives = 0;

int counted_receive(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
    if (count > 0) ++receives;
    return MPI_Recv(buffer, count, type, from, tag, comm, status);
}

int receive_that_spoils_a_byte(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                               MPI_Status* status) {
    int const code = MPI_Recv(buffer, count, type, from, tag, comm, status);
    if (count > 0) static_cast<unsigned char*>(buffer)[count - 1] ^= 1U;
    return code;
}

SLUICE_NEEDS_RANKS(2, OverlapCell, every_method_runs_once_in_each_pair);
TEST(OverlapCell, every_method_runs_once_in_each_pair) {
    OverlapCalls program = OverlapCalls::of_the_program();
    program.recv = counted_receive;
    for (OverlapWork const work : {OverlapWork::independent, OverlapWork::light, OverlapWork::heavy}) {
        receives = 0;
        std::map<OverlapMethod, int> told;
        auto const all = {OverlapMethod::blocking, OverlapMethod::irecv,   OverlapMethod::by_hand,
                          OverlapMethod::strips,   OverlapMethod::program, OverlapMethod::compute,
                          OverlapMethod::transfer};
        OverlapCell(plan_of(work, all), program, OverlapCalls::straight())
            .measure([&told](OverlapMethod method, double seconds) {
                ++told[method];
                EXPECT_GT(seconds, 0);
            });
        if (rank() != 0) {
            EXPECT_TRUE(told.empty());
            continue;
        }
        for (OverlapMethod const method : all)
            EXPECT_EQ(told[method], 3) << name_of(method) << ", " << name_of(work);
        EXPECT_EQ(receives, 2 + 3) << "only `program` receives as the program does: in the warm-up and in each pair";
    }
}

SLUICE_NEEDS_RANKS(2, OverlapCell, one_wrong_bit_is_an_error);
TEST(OverlapCell, one_wrong_bit_is_an_error) {
    OverlapCalls spoiling = OverlapCalls::of_the_program();
    spoiling.recv = receive_that_spoils_a_byte;
    OverlapPlan plan = plan_of(OverlapWork::light, {OverlapMethod::program});
    plan.warm_up = 1;
    plan.pairs = 0;
    OverlapCell cell(plan, spoiling, OverlapCalls::straight());
    auto const measure = [&cell] { cell.measure([](OverlapMethod, double) {}); };
    if (rank() != 0) return measure();
    EXPECT_THROW(
        try { measure(); } catch (std::runtime_error const& error) {
            EXPECT_STREQ(error.what(), "byte 300006 of 300007 is not what was sent");
            MPI_Barrier(MPI_COMM_WORLD);  // the sender is in the barrier that ends the round
            throw;
        },
        std::runtime_error);
}

}  // namespace
}  // namespace sluice::bench
