// SPDX-License-Identifier: BSD-3-Clause
/// A store on which any allocation of one rank fails, or all from any on: what is posted ends, with data or an error,
/// and the other ranks get all that they ask each other for. Sent data wait for memory, so for them one allocation
/// fails.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "fetch/fetch_bed.hpp"
#include "sluice/fetch.hpp"
#include "sluice/tasks.hpp"
#include "support/effort.hpp"
#include "support/limits/counted_calls.hpp"

namespace sluice::tests {
namespace {

/// How data come to their readers.
enum class Form { fetched, fetched_in_tasks, offered, pushed };

class LackOfMemory : public testing::TestWithParam<Form> {
  protected:
    static constexpr std::uint64_t k_large = 40'000;  // such data are read in their owner's memory
    static constexpr std::uint64_t k_kinds = 3;       // packed, contiguous, from elsewhere
    enum : std::uint64_t { k_packed, k_contiguous, k_elsewhere };

    LackOfMemory() : context_(MPI_COMM_WORLD, settings()), rank_(context_.rank()), ranks_(context_.size()) {
        contiguous_ = bytes_of({rank_, k_contiguous, 0}, k_large);
        elsewhere_ = bytes_of({rank_, k_elsewhere, 0}, size_of(k_elsewhere));
    }
    static Settings settings() {
        Settings settings;
        settings.send_control = GetParam() == Form::pushed ? Switch::off : Switch::on;
        return settings;
    }
    static std::uint64_t size_of(std::uint64_t kind) { return kind == k_contiguous ? k_large : 3000; }
    static bool is_sent() { return GetParam() == Form::offered || GetParam() == Form::pushed; }
    int hit() const { return ranks_ - 1; }
    bool is_hit() const { return rank_ == hit(); }

    /// What of this rank cannot be published or sent for want of memory will not be.
    void publish_all(Store& store) {
        try {
            publish(store, {rank_, k_packed, 0}, size_of(k_packed), ranks_);
            store.publish({rank_, k_contiguous, 0}, contiguous_, ranks_);
            store.publish_lazily(
                {rank_, k_elsewhere, 0}, {size_of(k_elsewhere)},
                [this](Store::DataSink const& sink) { sink(elsewhere_, nullptr); }, ranks_);
        } catch (std::bad_alloc const&) {
            store.close(0);
        }
    }
    void send_all(Store& store) {
        try {
            for (int to = 0; to < ranks_; ++to) {
                Key const key{rank_, static_cast<std::uint64_t>(to), 0};
                store.send(to, key, {3000}, [key](std::span<std::byte> out) {
                    OwnAllocations const own;
                    std::ranges::copy(bytes_of(key, out.size()), out.begin());
                });
            }
        } catch (std::bad_alloc const&) {
            store.close(0);
        }
    }

    void count(Key const& key, std::uint64_t bytes, FetchResult const& got, std::exception_ptr const& error) {
        OwnAllocations const own;
        ++ended_;
        if (!error) {
            EXPECT_TRUE(is_right(got, 0, key, bytes));
            return;
        }
        ++failed_;
        EXPECT_TRUE(is_hit() || key.owner == hit()) << "rank " << rank_ << " from " << key.owner;
    }
    void get(Store& store, Key const& key, std::uint64_t bytes) {
        FetchRequest const want{key, {bytes}};
        std::span const wants(&want, 1);
        auto const done = [this, key, bytes](FetchResult const& got, std::exception_ptr const& error) {
            count(key, bytes, got, error);
        };
        try {
            if (GetParam() == Form::fetched)
                store.fetch_all(wants, done);
            else
                store.receive_all(wants, done);
        } catch (std::bad_alloc const&) {
            done({}, std::current_exception());
        }
    }
    Task get_in_task(Store& store, Key key, std::uint64_t bytes) {
        try {
            FetchRequest const want{key, {bytes}};
            FetchResult const got = co_await store.fetch_all(std::span(&want, 1));
            count(key, bytes, got, nullptr);
        } catch (...) {
            count(key, bytes, {}, std::current_exception());
        }
    }
    void get_all_in_tasks(Store& store) {
        try {
            Tasks tasks(context_);
            for (int owner = 0; owner < ranks_; ++owner)
                for (std::uint64_t kind = 0; kind < k_kinds; ++kind)
                    try {
                        tasks.spawn(get_in_task(store, {owner, kind, 0}, size_of(kind)));
                    } catch (std::bad_alloc const&) {
                        count({owner, kind, 0}, 0, {}, std::current_exception());
                    }
            tasks.run();
        } catch (std::bad_alloc const&) {
            EXPECT_EQ(ended_, 0U) << "only the scheduler itself";
            ended_ = to_come_;
            ++failed_;
        }
    }
    void get_all(Store& store) {
        to_come_ = static_cast<std::uint64_t>(ranks_) * (is_sent() ? 1 : k_kinds);
        if (GetParam() == Form::fetched_in_tasks) {
            get_all_in_tasks(store);
            return;
        }
        for (int owner = 0; owner < ranks_; ++owner)
            for (std::uint64_t kind = 0; kind < (is_sent() ? 1 : k_kinds); ++kind)
                if (is_sent())
                    get(store, {owner, static_cast<std::uint64_t>(rank_), 0}, 3000);
                else
                    get(store, {owner, kind, 0}, size_of(kind));
        store.wait_until([this] { return ended_ == to_come_; });
    }

    /// Collective. Returns whether the store could be made, the same on all ranks.
    bool use_a_store() {
        ended_ = failed_ = 0;
        std::optional<Store> store;
        try {
            store.emplace(context_);
        } catch (Error const& error) {
            OwnAllocations const own;
            EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
            return false;
        }
        if (is_sent())
            send_all(*store);
        else
            publish_all(*store);
        get_all(*store);
        store->finish();
        return true;
    }

    Context context_;
    int rank_;
    int ranks_;
    std::vector<std::byte> contiguous_;
    std::vector<std::byte> elsewhere_;
    std::uint64_t to_come_ = 0;
    std::uint64_t ended_ = 0;
    std::uint64_t failed_ = 0;
};

TEST_P(LackOfMemory, of_one_rank_ends_what_is_posted) {
    for (auto const fail : {fail_an_allocation, fail_all_allocations}) {
        if (is_sent() && fail == fail_all_allocations) break;
        std::uint64_t cases_with_errors = 0;
        int is_over = 0;
        for (std::uint64_t good = 0; is_over == 0; good += step_of_allocations()) {
            if (is_hit()) fail(good);
            bool const is_made = use_a_store();
            is_over = is_hit() && !fail_no_allocation() ? 1 : 0;
            int made[2]{is_made ? 1 : 0, is_made ? 0 : 1};
            MPI_Allreduce(MPI_IN_PLACE, made, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
            EXPECT_EQ(made[0] + made[1], 1) << "the ranks differ";
            std::uint64_t failed = failed_;
            MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
            cases_with_errors += failed > 0 ? 1 : 0;
            MPI_Allreduce(MPI_IN_PLACE, &is_over, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
            ASSERT_FALSE(HasFailure()) << "allocation " << good;
        }
        EXPECT_GT(cases_with_errors, 0U);
        EXPECT_EQ(failed_, 0U) << "nothing fails if no allocation does";
    }
}

std::string name_of_form(testing::TestParamInfo<Form> const& tested) {
    switch (tested.param) {
        case Form::fetched:
            return "fetched";
        case Form::fetched_in_tasks:
            return "fetched_in_tasks";
        case Form::offered:
            return "offered";
        case Form::pushed:
            break;
    }
    return "pushed";
}

INSTANTIATE_TEST_SUITE_P(Forms, LackOfMemory,
                         testing::Values(Form::fetched, Form::fetched_in_tasks, Form::offered, Form::pushed),
                         name_of_form);

}  // namespace
}  // namespace sluice::tests
