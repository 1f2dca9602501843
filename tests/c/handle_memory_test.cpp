// SPDX-License-Identifier: BSD-3-Clause
/// One rank has no memory for the handle of an object that is made collectively: no rank gets the object, and none
/// waits for another.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "c/c_context.hpp"
#include "c/c_store.hpp"
#include "madre.h"
#include "sluice/sluice.h"

namespace {

/// The next allocation of this many bytes fails; k_any stands for each size, 0 for none.
thread_local std::size_t t_bytes_that_fail = 0;
constexpr std::size_t k_any = ~std::size_t{0};

}  // namespace

// Not inlined, because GCC would take free() for the wrong partner of operator new.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
    if (t_bytes_that_fail != 0 && (t_bytes_that_fail == k_any || t_bytes_that_fail == bytes)) {
        t_bytes_that_fail = 0;
        throw std::bad_alloc();
    }
    void* const memory = std::malloc(bytes > 0 ? bytes : 1);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace {

class HandleMemory : public testing::Test {
  protected:
    HandleMemory() {
        int rank = 0;
        int size = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        is_last_ = rank == size - 1;
        EXPECT_EQ(sluice_context_create(MPI_COMM_WORLD, nullptr, &context_), SLUICE_SUCCESS) << sluice_last_error();
    }
    ~HandleMemory() override { EXPECT_EQ(sluice_context_free(&context_), SLUICE_SUCCESS) << sluice_last_error(); }

    /// On the last rank the next allocation of `bytes` fails in `call`. No rank gets an object, and the next call gets
    /// one.
    template <typename Handle>
    void expect_none_or_all(std::size_t bytes, std::function<int(Handle**)> const& call, int (*free)(Handle**)) const {
        Handle* handle = nullptr;
        t_bytes_that_fail = is_last_ ? bytes : 0;
        int const code = call(&handle);
        EXPECT_EQ(t_bytes_that_fail, 0U) << "no allocation has failed";
        t_bytes_that_fail = 0;
        EXPECT_EQ(code, SLUICE_OUT_OF_MEMORY);
        EXPECT_NE(std::string(sluice_last_error()).find("the handle of a call"), std::string::npos)
            << sluice_last_error();
        EXPECT_EQ(handle, nullptr);
        EXPECT_EQ(call(&handle), SLUICE_SUCCESS) << sluice_last_error();
        EXPECT_NE(handle, nullptr);
        EXPECT_EQ(free(&handle), SLUICE_SUCCESS);
    }

    sluice_context* context_ = nullptr;
    bool is_last_ = false;
};

TEST_F(HandleMemory, of_a_context_is_taken_before_the_ranks_agree) {
    expect_none_or_all<sluice_context>(
        sizeof(sluice_context),
        [](sluice_context** handle) { return sluice_context_create(MPI_COMM_WORLD, nullptr, handle); },
        sluice_context_free);
}

TEST_F(HandleMemory, of_a_store_is_taken_before_the_ranks_agree) {
    expect_none_or_all<sluice_store>(
        sizeof(sluice_store), [this](sluice_store** handle) { return sluice_store_create(context_, handle); },
        sluice_store_free);
}

TEST_F(HandleMemory, of_a_plan_is_taken_before_the_ranks_agree) {
    std::vector<int> const ranks(4, 0);
    std::vector<std::int64_t> const indices{0, 1, 2, 3};
    std::uint64_t const live = is_last_ ? 4 : 0;  // all blocks go to rank 0
    expect_none_or_all<sluice_plan>(
        k_any,
        [&](sluice_plan** handle) {
            return sluice_plan_create(context_, 4, live, ranks.data(), indices.data(), nullptr, handle);
        },
        sluice_plan_free);
}

TEST_F(HandleMemory, of_a_plan_that_is_computed_is_taken_before_the_ranks_agree) {
    auto const nowhere = [](void*, std::uint64_t, void const*, int* rank, std::int64_t* index) {
        *rank = -1;
        *index = -1;
    };
    expect_none_or_all<sluice_plan>(
        k_any,
        [&](sluice_plan** handle) {
            return sluice_plan_create_computed(context_, 4, nowhere, nullptr, nullptr, handle);
        },
        sluice_plan_free);
}

TEST_F(HandleMemory, of_an_object_of_madre_is_taken_before_the_ranks_agree) {
    std::vector<double> data(4);
    std::string strategy = "token";
    auto const create = [&] { return MADRE_create(data.data(), strategy.data(), 4, 1, MPI_DOUBLE, MPI_COMM_WORLD); };
    t_bytes_that_fail = is_last_ ? k_any : 0;
    EXPECT_EQ(create(), MADRE_OBJECT_NULL);
    EXPECT_EQ(t_bytes_that_fail, 0U) << "no allocation has failed";
    MADRE_Object object = create();
    ASSERT_NE(object, MADRE_OBJECT_NULL);
    MADRE_destroy(object);
}

}  // namespace
