// SPDX-License-Identifier: BSD-3-Clause
/// The benchmarks that `sluice bench` can launch; each has a file of its own.
#pragma once

#include <string>
#include <vector>

namespace sluice::cli {

int bench_redistribute(std::vector<std::string> const& arguments);
int bench_overhead(std::vector<std::string> const& arguments);
int bench_inplace(std::vector<std::string> const& arguments);
int bench_alltoall(std::vector<std::string> const& arguments);
int bench_ft(std::vector<std::string> const& arguments);
int bench_fluctuation(std::vector<std::string> const& arguments);
int bench_flood(std::vector<std::string> const& arguments);
int bench_overlap(std::vector<std::string> const& arguments);
int bench_registration(std::vector<std::string> const& arguments);
int bench_madre(std::vector<std::string> const& arguments);

}  // namespace sluice::cli
