// SPDX-License-Identifier: BSD-3-Clause
/// What the ranks of a Context agree on.
#include "sluice/context.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <string>

#include "sluice/error.hpp"
#include "support/needs_ranks.hpp"

namespace sluice {
namespace {

/// The error of a Context whose last rank has another value of a setting than all others.
std::string complaint_about(std::string const& name, std::string const& value) {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    Settings settings;
    if (rank == size - 1) settings.set(name, value);
    try {
        Context const context(MPI_COMM_WORLD, settings);
    } catch (Error const& error) {
        return error.what();
    }
    return "";
}

SLUICE_NEEDS_RANKS(2, ContextSettings, that_differ_are_an_error_on_every_rank_wherever_they_stand_in_the_table);
TEST(ContextSettings, that_differ_are_an_error_on_every_rank_wherever_they_stand_in_the_table) {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::string const last = std::to_string(size - 1);
    EXPECT_EQ(complaint_about("strategy", "alltoallv"),
              "setting strategy (SLUICE_STRATEGY) differs: rank 0 has token, rank " + last + " alltoallv");
    EXPECT_NE(complaint_about("staging", "1MiB").find("setting staging (SLUICE_STAGING) differs: rank 0 has "),
              std::string::npos);
    EXPECT_NE(complaint_about("inplace_staging", "1MiB").find("inplace_staging"), std::string::npos);
    EXPECT_NE(complaint_about("inplace", "off").find("inplace"), std::string::npos);
}

SLUICE_NEEDS_RANKS(2, ContextSettings, of_a_rank_alone_may_differ);
TEST(ContextSettings, of_a_rank_alone_may_differ) {
    EXPECT_EQ(complaint_about("paged_folder", "/tmp"), "");
}

}  // namespace
}  // namespace sluice
