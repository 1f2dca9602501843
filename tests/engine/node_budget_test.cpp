// SPDX-License-Identifier: BSD-3-Clause
/// One budget for all ranks of a node, whatever communicators they make.
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/context_state.hpp"
#include "sluice/context.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {
namespace {

/// Other programs on this machine lease from the same ledger. A node_memory that no other job has gives the ranks an
/// M_C of their own, small enough that the machine has room for it several times.
class NodeBudget : public testing::Test {
  protected:
    NodeBudget()
        : settings_(settings()), context_(MPI_COMM_WORLD, settings_), rank_(context_.rank()), size_(context_.size()) {
        look();
    }

    static Settings settings() {
        Settings settings = Settings::from_environment();
        int job = static_cast<int>(getpid());
        MPI_Bcast(&job, 1, MPI_INT, 0, MPI_COMM_WORLD);
        settings.node_memory = 2_GiB + 4_KiB * static_cast<std::uint64_t>(job);
        return settings;
    }
    budget::ProcessBudget& process() { return engine::ContextState::of(context_).process().memory(); }
    void look() { process().look(); }
    bool has_ledger() { return process().adaptation() != nullptr && process().adaptation()->has_ledger(); }

    /// Repeats until `done` is true on all ranks and looks meanwhile, as progress would. The watchdog ends a test in
    /// which it never is.
    template <typename Done>
    void wait_for_all(Done done) {
        for (int all = 0; all == 0;) {
            look();
            all = done() ? 1 : 0;
            MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        }
    }

    Settings settings_;
    Context context_;
    int rank_;
    int size_;
};

TEST_F(NodeBudget, is_one_for_all_ranks_and_all_their_communicators) {
    if (!has_ledger()) GTEST_SKIP() << process().adaptation()->account().ledger;
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank_ % 2, 0, &half);
    {
        Context const other(half, settings_);
        EXPECT_EQ(&other.budget(), &context_.budget());
    }
    MPI_Comm_free(&half);
    // All ranks have the same ledger, and all are in it.
    std::string const name = process().adaptation()->account().ledger;
    std::uint64_t hash = std::hash<std::string>()(name);
    std::uint64_t least = hash;
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    EXPECT_EQ(hash, least) << name;
    look();
    EXPECT_GE(process().adaptation()->account().processes, static_cast<std::uint32_t>(size_));
    MPI_Barrier(MPI_COMM_WORLD);
}

TEST_F(NodeBudget, has_room_for_what_no_rank_has_leased) {
    if (!has_ledger()) GTEST_SKIP() << process().adaptation()->account().ledger;
    Bytes const most = context_.budget().limit();
    std::optional<Lease> lease;
    if (rank_ == 0) lease = context_.budget().try_lease(256_MiB, Purpose::other);
    wait_for_all([&] { return process().room() <= most - 256_MiB; });
    EXPECT_EQ(lease.has_value(), rank_ == 0);
    lease.reset();
    wait_for_all([&] { return process().room() > most - 256_MiB; });
}

SLUICE_NEEDS_RANKS(2, NodeBudget, lets_one_rank_have_most_of_it_until_the_others_need_it);
TEST_F(NodeBudget, lets_one_rank_have_most_of_it_until_the_others_need_it) {
    if (!has_ledger()) GTEST_SKIP() << process().adaptation()->account().ledger;
    // The last rank takes seven eighths, while no other rank needs them.
    std::uint64_t m_c = context_.budget().limit().count;
    MPI_Bcast(&m_c, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    bool const is_rich = rank_ == size_ - 1;
    std::optional<Lease> most;
    wait_for_all([&] {
        if (is_rich && !most) most = context_.budget().try_lease(Bytes{m_c / 8 * 7}, Purpose::other);
        return !is_rich || most.has_value();
    });
    // Now each of the others wants half of an even share.
    Bytes const wanted{m_c / static_cast<std::uint64_t>(2 * size_)};
    bool got = is_rich;
    Lease mine;
    if (!is_rich)
        context_.budget().when_free(wanted, Purpose::fetched, [&](Lease lease) {
            mine = std::move(lease);
            got = true;
        });
    int waiting = got ? 0 : 1;
    MPI_Allreduce(MPI_IN_PLACE, &waiting, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (size_ > 4) {
        EXPECT_GT(waiting, 0) << "not all of them fit beside it";
    }
    most.reset();  // the rank with most of the memory gives it back
    wait_for_all([&] { return got; });
    if (!is_rich) {
        EXPECT_EQ(mine.amount(), wanted);
    }
    mine.release();
    MPI_Barrier(MPI_COMM_WORLD);
}

TEST_F(NodeBudget, gets_back_what_a_killed_process_of_the_node_held) {
    if (!has_ledger()) GTEST_SKIP() << process().adaptation()->account().ledger;
    // The process that holds nearly all is not a rank, because both MPIs end the job of a rank that is killed. It
    // shares the ledger.
    std::uint64_t m_c = context_.budget().limit().count;
    MPI_Bcast(&m_c, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    int ends[2]{-1, -1};
    pid_t child = -1;
    if (rank_ == 0) {
        ASSERT_EQ(pipe(ends), 0);
        child = fork();
        if (child == 0) {
            budget::Adaptation::Options options;
            options.node_memory = settings_.node_memory;
            auto const adaptation = std::make_shared<budget::Adaptation>(options);
            Budget budget(adaptation->m_c(), adaptation);
            adaptation->look(budget);
            Lease const all = budget.lease_beyond(Bytes{m_c}, Purpose::other);
            if (write(ends[1], "x", 1) == 1) pause();
            _exit(1);
        }
        char said = 0;
        ASSERT_EQ(read(ends[0], &said, 1), 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    bool got = false;
    Lease mine;
    context_.budget().when_free(Bytes{m_c / static_cast<std::uint64_t>(2 * size_)}, Purpose::fetched, [&](Lease lease) {
        mine = std::move(lease);
        got = true;
    });
    EXPECT_FALSE(got);
    look();
    EXPECT_FALSE(got);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) {
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        close(ends[0]);
        close(ends[1]);
    }
    wait_for_all([&] { return got; });
    mine.release();
    MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace sluice::tests
