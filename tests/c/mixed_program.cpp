// SPDX-License-Identifier: BSD-3-Clause
/// A program that uses the C++ interface and, in its part in C, the C interface, at the same time. The exit code is
/// 1 if anything is wrong.
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "mixed_part.h"
#include "sluice/budget.hpp"
#include "sluice/context.hpp"
#include "sluice/error.hpp"
#include "sluice/fetch.hpp"
#include "sluice/redistribute.hpp"

namespace {

int g_faults = 0;

void expect(bool right, char const* what, int line) {
    if (right) return;
    ++g_faults;
    std::fprintf(stderr, "line %d: %s (%s)\n", line, what, sluice_last_error());
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)

constexpr std::uint64_t k_count = 1000;

std::vector<double> numbers_of(int rank) {
    std::vector<double> numbers;
    for (std::uint64_t i = 0; i < k_count; ++i)
        numbers.push_back(rank + static_cast<double>(i) / k_count);
    return numbers;
}

/// The same redistribution by both interfaces, one after the other: what C does, C++ undoes.
void redistribute_in_both(sluice::Context& context, sluice_context* c_context) {
    std::vector<double> numbers = numbers_of(context.rank());
    sluice_report* c_report = nullptr;
    EXPECT(sluice_report_create(&c_report) == SLUICE_SUCCESS);
    EXPECT(pass_on_in_c(c_context, numbers.data(), k_count, c_report) == SLUICE_SUCCESS);
    int const before = (context.rank() + context.size() - 1) % context.size();
    std::vector<sluice::Destination> back;
    for (std::uint64_t i = 0; i < k_count; ++i)
        back.push_back({before, static_cast<std::int64_t>(k_count - 1 - i)});
    auto const report = sluice::redistribute(context, sluice::blocks_of(std::span(numbers)), back);
    EXPECT(numbers == numbers_of(context.rank()));

    std::uint64_t sent = 0;
    EXPECT(sluice_report_get(c_report, "blocks_sent", &sent) == SLUICE_SUCCESS);
    EXPECT(sent == report.blocks_sent);
    EXPECT(sluice_report_get(c_report, "rounds", &sent) == SLUICE_SUCCESS);
    EXPECT(sent == report.rounds);
    EXPECT(sluice_report_free(&c_report) == SLUICE_SUCCESS);
}

std::uint64_t held_for_others(sluice_budget const* budget) {
    sluice_report* report = nullptr;
    std::uint64_t held = 0;
    EXPECT(sluice_report_create(&report) == SLUICE_SUCCESS);
    EXPECT(sluice_budget_report(budget, report) == SLUICE_SUCCESS);
    EXPECT(sluice_report_get(report, "held.other", &held) == SLUICE_SUCCESS);
    EXPECT(sluice_report_free(&report) == SLUICE_SUCCESS);
    return held;
}

/// Both interfaces lease from the one budget of the process.
void lease_in_both(sluice::Context& context, sluice_context* c_context) {
    using namespace sluice::literals;
    sluice_budget* budget = nullptr;
    EXPECT(sluice_context_budget(c_context, &budget) == SLUICE_SUCCESS);
    std::uint64_t const before = held_for_others(budget);
    sluice::Lease const lease = context.budget().lease_beyond(100_KiB, sluice::Purpose::other);
    EXPECT(held_for_others(budget) == before + (100 << 10));
    sluice_lease* c_lease = nullptr;
    EXPECT(sluice_budget_lease_beyond(budget, 50 << 10, SLUICE_PURPOSE_OTHER, &c_lease) == SLUICE_SUCCESS);
    EXPECT(context.budget().held(sluice::Purpose::other).count == before + (150 << 10));
    EXPECT(sluice_lease_free(&c_lease) == SLUICE_SUCCESS);
    EXPECT(sluice_budget_free(&budget) == SLUICE_SUCCESS);
}

/// An exception of C++ passes the program's own C; those of Sluice are caught by type.
void throw_through_c(sluice::Context& context) {
    bool caught = false;
    try {
        call_from_c(
            [](void* user) {
                auto& over = *static_cast<sluice::Context*>(user);
                sluice::redistribute(over, sluice::Blocks{},
                                     [](std::uint64_t, std::span<std::byte const>) { return sluice::free_block; },
                                     {.strategy = {}, .staging = sluice::Bytes{1}});
            },
            &context);
    } catch (sluice::Error const& error) {
        caught = error.code() == sluice::ErrorCode::invalid_argument;
    }
    EXPECT(caught);
}

extern "C" int throw_while_packing(void* /*user*/, void* /*out*/, std::uint64_t /*bytes*/) {
    throw std::runtime_error("the packer of a C++ program threw");
}
extern "C" void throw_something(void* /*user*/, std::uint64_t /*index*/, void const* /*block*/, int* /*rank*/,
                                std::int64_t* /*destination*/) {
    throw 42;
}

/// A callback that is written in C++ may throw by mistake: the exception becomes a code at the border of the C
/// interface.
void throw_into_the_c_interface(sluice_context* c_context) {
    sluice_store* store = nullptr;
    EXPECT(sluice_store_create(c_context, &store) == SLUICE_SUCCESS);
    sluice_key const key{sluice_context_rank(c_context), 1, 0};
    EXPECT(sluice_store_send(store, key.owner, key, 8, throw_while_packing, nullptr) == SLUICE_INTERNAL);
    EXPECT(std::string(sluice_last_error()) == "the packer of a C++ program threw");
    EXPECT(sluice_store_free(&store) == SLUICE_SUCCESS);
    if (sluice_context_size(c_context) > 1) return;  // the other ranks would wait
    double number = 0;
    EXPECT(sluice_redistribute_computed(c_context, &number, 1, 8, throw_something, nullptr, nullptr, nullptr) ==
           SLUICE_INTERNAL);
    EXPECT(std::string(sluice_last_error()) == "an exception of unknown type");
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    {
        sluice::Context context(MPI_COMM_WORLD);
        sluice_context* c_context = nullptr;
        EXPECT(sluice_context_create(MPI_COMM_WORLD, nullptr, &c_context) == SLUICE_SUCCESS);
        redistribute_in_both(context, c_context);
        lease_in_both(context, c_context);
        throw_through_c(context);
        throw_into_the_c_interface(c_context);
        EXPECT(sluice_context_free(&c_context) == SLUICE_SUCCESS);
    }
    int all_faults = 0;
    MPI_Allreduce(&g_faults, &all_faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all_faults != 0 ? 1 : 0;
}
