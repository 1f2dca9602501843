// SPDX-License-Identifier: BSD-3-Clause
/// Memory of a device is refused before anything moves. A stand-in for libcuda says that a mapping is a device's; the
/// kernel forbids all access to it, so that a touch of it ends the program.
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/mman.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sluice/collectives.hpp"
#include "sluice/error.hpp"
#include "sluice/fetch.hpp"
#include "sluice/redistribute.hpp"
#include "sluice/sluice.h"
#include "support/device_stand_in.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {
namespace {

constexpr std::size_t k_bytes = 1 << 20;

class DeviceMemory : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        memory_ = mmap(nullptr, k_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        StandInRange const range = load_device(SLUICE_STAND_IN_CUDA);
        ASSERT_NE(range, nullptr) << dlerror();
        range(memory_, k_bytes, false);
    }
    static void TearDownTestSuite() { munmap(memory_, k_bytes); }

    static std::string error_of(std::function<void()> const& action) {
        try {
            action();
        } catch (Error const& error) {
            EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
            return error.what();
        }
        return "no error";
    }
    static testing::AssertionResult is_refused(std::string const& text, std::string const& what) {
        if (text.find(what) != std::string::npos &&
            text.find(" is memory of a device (libcuda says so)") != std::string::npos)
            return testing::AssertionSuccess();
        return testing::AssertionFailure() << text;
    }

    Context context_{MPI_COMM_WORLD};
    static inline void* memory_ = nullptr;
};

/// The last rank alone has its array on a device.
TEST_F(DeviceMemory, is_refused_by_redistributions_on_all_ranks) {
    bool const mine = context_.rank() == context_.size() - 1;
    std::vector<std::uint64_t> host(1000, 7);
    Blocks const blocks{mine ? memory_ : host.data(), host.size(), {8}};
    std::vector<Destination> to;
    for (std::size_t i = 0; i < host.size(); ++i)
        to.push_back({(context_.rank() + 1) % context_.size(), static_cast<std::int64_t>(i)});
    EXPECT_TRUE(is_refused(error_of([&] { redistribute(context_, blocks, to); }), "the array"));
    EXPECT_TRUE(is_refused(
        error_of([&] { redistribute(context_, blocks, [&](std::uint64_t i, auto) { return to[i]; }); }), "the array"));
    Plan plan(context_, host.size(), to);
    EXPECT_TRUE(is_refused(error_of([&] { plan.apply(blocks); }), "the array"));
    EXPECT_EQ(host, std::vector<std::uint64_t>(1000, 7));
}

SLUICE_NEEDS_RANKS(2, DeviceMemory, is_refused_by_exchanges_in_place);
/// As in MPI, a wrong argument is the error of the rank that passes it, so all pass one.
TEST_F(DeviceMemory, is_refused_by_exchanges_in_place) {
    auto const ranks = static_cast<std::size_t>(context_.size());
    auto const count = static_cast<std::int64_t>(k_bytes / 8 / ranks);
    EXPECT_TRUE(is_refused(error_of([&] { alltoall_in_place(context_, memory_, count, MPI_DOUBLE); }), "the buffer"));
    std::vector<std::int64_t> const counts(ranks, 1);
    std::vector<std::int64_t> const places(ranks, 0);
    MPI_Aint address = 0;
    MPI_Get_address(memory_, &address);
    std::vector<std::int64_t> const addresses(ranks, address);
    std::vector<MPI_Datatype> const types(ranks, MPI_INT);
    EXPECT_TRUE(is_refused(error_of([&] { alltoallw_in_place(context_, MPI_BOTTOM, counts, addresses, types); }),
                           "the buffer"));
    int const length = 1;
    MPI_Datatype absolute = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &absolute);
    MPI_Type_commit(&absolute);
    EXPECT_TRUE(is_refused(error_of([&] { alltoallv_in_place(context_, MPI_BOTTOM, counts, places, absolute); }),
                           "the buffer"));
    MPI_Type_free(&absolute);
}

TEST_F(DeviceMemory, is_refused_by_publish_and_send) {
    std::span const data(static_cast<std::byte const*>(memory_), k_bytes);
    Store store(context_);
    Key const key{context_.rank(), 5, 2};
    EXPECT_TRUE(is_refused(error_of([&] { store.publish(key, data); }), "id 5 of epoch 2"));
    EXPECT_TRUE(is_refused(error_of([&] { store.send(0, key, data); }), "id 5 of epoch 2"));
    store.publish(key, data.first(0), 1);  // no byte of it is read
    store.withdraw(key);
}

TEST_F(DeviceMemory, is_refused_in_c) {
    sluice_context* context = nullptr;
    ASSERT_EQ(sluice_context_create(MPI_COMM_WORLD, nullptr, &context), SLUICE_SUCCESS);
    int const rank = context_.rank();
    std::int64_t const index = 0;
    EXPECT_EQ(sluice_redistribute(context, memory_, 1, 8, 1, &rank, &index, nullptr, nullptr), SLUICE_INVALID_ARGUMENT);
    EXPECT_TRUE(is_refused(sluice_last_error(), "the array"));
    sluice_store* store = nullptr;
    ASSERT_EQ(sluice_store_create(context, &store), SLUICE_SUCCESS);
    EXPECT_EQ(sluice_store_publish_bytes(store, {rank, 1, 1}, memory_, 8, 1), SLUICE_INVALID_ARGUMENT);
    EXPECT_TRUE(is_refused(sluice_last_error(), "id 1 of epoch 1"));
    EXPECT_EQ(sluice_store_free(&store), SLUICE_SUCCESS);
    EXPECT_EQ(sluice_context_free(&context), SLUICE_SUCCESS);
}

}  // namespace
}  // namespace sluice::tests
