// SPDX-License-Identifier: BSD-3-Clause
/// RapidCheck for programs of many ranks: rank 0 draws the cases and shrinks those that fail. All ranks try each case,
/// and a case has failed if it failed on one rank.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>
#include <rapidcheck.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/main/watchdog.hpp"

namespace sluice::tests {

/// Collective. Returns on every rank the text of the lowest rank that passes one, with its rank; empty if no rank does.
std::string first_problem(std::string const& mine);

inline constexpr double k_seconds = 2.0;
inline constexpr int k_least_cases = 4;

/// Collective. `Case` can be printed and has `encode()`, a vector of 64-bit words, and a static `decode` of these.
/// `generator` is used by rank 0 alone. `try_case` runs on all ranks for each case; it returns what went wrong on this
/// rank, or nothing. If a case failed, every rank has a failure at the end, and rank 0's contains the smallest case and
/// its seed; RC_PARAMS in the environment replays it.
template <typename Case, typename TryCase>
void check_on_all_ranks(std::string const& name, rc::Gen<Case> const& generator, int cases, TryCase try_case) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0) {
        for (;;) {
            std::uint64_t words = 0;
            MPI_Bcast(&words, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
            if (words == 0) return;
            std::vector<std::uint64_t> code(words);
            MPI_Bcast(code.data(), static_cast<int>(words), MPI_UINT64_T, 0, MPI_COMM_WORLD);
            first_problem(try_case(Case::decode(code)));
        }
    }

    double const start = MPI_Wtime();
    int tried = 0;
    std::string first_failure;
    double slowest_seconds = 0;
    std::string slowest;
    auto const property = [&] {
        Case const drawn = *generator;
        // A failure is shrunk without regard to time.
        if (first_failure.empty() && tried >= k_least_cases && MPI_Wtime() - start > k_seconds) return;
        ++tried;
        std::vector<std::uint64_t> code = drawn.encode();
        std::uint64_t words = code.size();
        std::ostringstream text;
        text << name << ", " << drawn;
        watchdog_sees(text.str());
        MPI_Bcast(&words, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        MPI_Bcast(code.data(), static_cast<int>(words), MPI_UINT64_T, 0, MPI_COMM_WORLD);
        double const case_start = MPI_Wtime();
        std::string const problem = first_problem(try_case(drawn));
        if (double const took = MPI_Wtime() - case_start; took > slowest_seconds) {
            slowest_seconds = took;
            slowest = text.str();
        }
        if (problem.empty()) return;
        if (first_failure.empty()) first_failure = text.str() + "\n" + problem;
        RC_FAIL(problem);
    };
    rc::detail::TestParams params = rc::detail::configuration().testParams;
    if (std::getenv("RC_PARAMS") == nullptr) params.maxSuccess = cases;
    rc::detail::TestMetadata metadata;
    metadata.id = name;
    metadata.description = name;
    auto const result = rc::detail::checkTestable(property, metadata, params);
    std::uint64_t end = 0;
    MPI_Bcast(&end, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (result.template is<rc::detail::SuccessResult>()) {
        std::printf("%d cases tried; the slowest took %.2f s: %.*s\n", tried, slowest_seconds, 160, slowest.c_str());
        return;
    }
    std::ostringstream text;
    rc::detail::printResultMessage(result, text);
    ADD_FAILURE() << text.str() << "\nfirst failure: " << first_failure;
}

inline std::string first_problem(std::string const& mine) {
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int first = mine.empty() ? ranks : rank;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == ranks) return {};
    std::string text = "rank " + std::to_string(first) + ": " + mine;
    int length = static_cast<int>(text.size());
    MPI_Bcast(&length, 1, MPI_INT, first, MPI_COMM_WORLD);
    text.resize(static_cast<std::size_t>(length));
    MPI_Bcast(text.data(), length, MPI_CHAR, first, MPI_COMM_WORLD);
    return text;
}

}  // namespace sluice::tests
