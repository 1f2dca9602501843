// SPDX-License-Identifier: BSD-3-Clause
/// The main function of every parallel test. With SLUICE_TEST_THREADS in the environment the test may use MPI from
/// several threads. Rank 0 prints as usual, the others print failures only. A test that fails on one rank fails on all,
/// and so does the program. Skipped cases are listed at the end.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "support/main/skipped_cases.hpp"
#include "support/main/watchdog.hpp"
#include "support/needs_ranks.hpp"
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>

extern "C" char const* __asan_default_options() {
    return "leak_check_at_exit=0";
}
#endif

namespace {

/// MPI keeps memory of plugins that it unloads, which then has neither an owner nor a name that lsan.supp could list.
/// So allocations of MPI_Init are not checked for leaks, and the rest is checked before MPI_Finalize.
void initialize_mpi(int& argc, char**& argv) {
#ifdef __SANITIZE_ADDRESS__
    __lsan::ScopedDisabler const unwatched;
#endif
    int const level = std::getenv("SLUICE_TEST_THREADS") == nullptr ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
    int provided = 0;
    MPI_Init_thread(&argc, &argv, level, &provided);
}

bool leaks() {
#ifdef __SANITIZE_ADDRESS__
    return __lsan_do_recoverable_leak_check() != 0;
#else
    return false;
#endif
}

void start_watchdog(int rank, int ranks) {
#ifdef SLUICE_SIMULATED
    if (rank == 0) sluice::tests::start_watchdog(rank, ranks, {});  // all ranks are threads of this process
#else
    sluice::tests::WatchdogBoard board;
    if (rank == 0) board = sluice::tests::make_watchdog_board();
    long where[] = {board.process, board.descriptor};
    MPI_Bcast(where, 2, MPI_LONG, 0, MPI_COMM_WORLD);
    sluice::tests::start_watchdog(rank, ranks, {where[0], where[1]});
#endif
}

/// Makes a failure known to every rank at the end of each test. It has a communicator of its own, so that a test which
/// left messages behind cannot disturb it.
class Verdict : public testing::EmptyTestEventListener {
  public:
    Verdict() { MPI_Comm_dup(MPI_COMM_WORLD, &comm_); }
    ~Verdict() override { MPI_Comm_free(&comm_); }
    Verdict(Verdict const&) = delete;
    Verdict& operator=(Verdict const&) = delete;

    void OnTestStart(testing::TestInfo const& test) override {
        sluice::tests::watchdog_sees(std::string(test.test_suite_name()) + "." + test.name());
    }

    void OnTestEnd(testing::TestInfo const& test) override {
        std::string const reason = sluice::tests::reason_of_skip(test);
        int const mine = test.result()->Failed() ? k_failed : reason.empty() ? k_passed : k_skipped;
        int ranks = 0;
        int rank = 0;
        MPI_Comm_size(comm_, &ranks);
        MPI_Comm_rank(comm_, &rank);
        std::vector<int> ended(static_cast<std::size_t>(ranks));
        MPI_Allgather(&mine, 1, MPI_INT, ended.data(), 1, MPI_INT, comm_);
        std::ostringstream list;
        for (int other = 0; other < ranks; ++other)
            if (ended[static_cast<std::size_t>(other)] == k_failed) list << ' ' << other;
        if (!list.str().empty() && mine != k_failed) ADD_FAILURE() << "failed on rank" << list.str();
        // One of the ranks that skipped the case reports it.
        if (std::find(ended.begin(), ended.end(), int{k_skipped}) - ended.begin() == rank) skipped_.add(test, reason);
    }

    /// Returns 1 on every rank if the code is not 0 on one.
    int agree(int code) const {
        int failed = code == 0 ? 0 : 1;
        MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm_);
        return failed;
    }

    sluice::tests::SkippedCases const& skipped() const { return skipped_; }

  private:
    enum { k_passed, k_failed, k_skipped };
    MPI_Comm comm_ = MPI_COMM_NULL;
    sluice::tests::SkippedCases skipped_;
};

/// The printer of the ranks other than rank 0.
class PrintFailures : public testing::EmptyTestEventListener {
  public:
    explicit PrintFailures(int rank) : rank_(rank) {}

    void OnTestPartResult(testing::TestPartResult const& part) override {
        if (!part.failed() || std::string(part.message()).find("failed on rank ") != std::string::npos) return;
        std::ostringstream text;
        text << "[rank " << rank_ << "] " << (part.file_name() != nullptr ? part.file_name() : "?") << ':'
             << part.line_number() << ": " << part.message() << '\n';
        std::fputs(text.str().c_str(), stderr);
        std::fflush(stderr);
    }

  private:
    int rank_;
};

}  // namespace

int main(int argc, char** argv) {
    initialize_mpi(argc, argv);
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    start_watchdog(rank, ranks);
    testing::InitGoogleTest(&argc, argv);
    if (std::string const wrong = sluice::tests::leave_out_cases_of_more_ranks(ranks); !wrong.empty()) {
        if (rank == 0) std::fprintf(stderr, "%s\n", wrong.c_str());
        MPI_Finalize();
        return 1;
    }

    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    if (rank != 0) {
        delete listeners.Release(listeners.default_result_printer());
        listeners.Append(new PrintFailures(rank));
    }
    // The listener is last in the list, so it is called first at the end of a test, and the printers see the failure
    // that it adds.
    auto* const verdict = new Verdict;
    listeners.Append(verdict);

    int code = RUN_ALL_TESTS();
    sluice::tests::watchdog_sees("MPI_Finalize");
    if (leaks()) code = 1;
    code = verdict->agree(code);
    sluice::tests::SkippedCases const skipped = verdict->skipped();
    delete listeners.Release(verdict);
    MPI_Finalize();
    sluice::tests::stop_watchdog();
    if (code == 0) skipped.tell();
    return code;
}
