// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/plan.hpp"

namespace sluice::cli {

namespace {

std::vector<std::string> const k_hard_cases{"random", "transpose"};
std::vector<std::string> const k_other_cases{"next", "next20", "hotspot", "skewed", "rebalance"};
std::vector<std::uint64_t> const k_blocks{64, 1024, 16000, 1048576};

void add_all(std::vector<BenchCell>& cells, std::string const& mpi, std::vector<int> const& ranks,
             std::vector<std::string> const& cases, std::vector<std::uint64_t> const& blocks) {
    for (int const count : ranks)
        for (std::string const& map : cases)
            for (std::uint64_t const bytes : blocks)
                cells.push_back({mpi, count, map, bytes});
}

template <typename T>
std::vector<T> asked_or(std::vector<T> const& asked, std::vector<T> const& all) {
    return asked.empty() ? all : asked;
}

}  // namespace

std::vector<BenchCell> plan_cells(BenchChoice const& choice, std::vector<std::string> const& mpis_found) {
    std::vector<BenchCell> cells;
    std::vector<std::string> all_cases = k_hard_cases;
    all_cases.insert(all_cases.end(), k_other_cases.begin(), k_other_cases.end());
    bool const anything_asked =
        choice.full || !choice.ranks.empty() || !choice.cases.empty() || !choice.block_bytes.empty();
    for (std::string const& mpi : asked_or(choice.mpis, mpis_found)) {
        if (anything_asked) {
            add_all(cells, mpi, asked_or(choice.ranks, {2, 4, 8}), asked_or(choice.cases, all_cases),
                    asked_or(choice.block_bytes, k_blocks));
        } else if (mpi == "mpich") {
            add_all(cells, mpi, {2}, k_hard_cases, k_blocks);
        } else {
            add_all(cells, mpi, {4, 2, 8}, k_hard_cases, k_blocks);
            add_all(cells, mpi, {4}, k_other_cases, {1024, 16000, 1048576});
        }
    }
    return cells;
}

}  // namespace sluice::cli
