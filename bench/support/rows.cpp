// SPDX-License-Identifier: BSD-3-Clause
#include "support/rows.hpp"

#include <cstdio>

#include "support/statistics.hpp"

namespace sluice::bench {

Row spread_row(std::span<double const> samples) {
    Spread const spread = spread_of(samples);
    return Row{{"min", spread.min}, {"median", spread.median}, {"max", spread.max}};
}

void print_row(Row const& row) {
    std::string const line = row.dump() + "\n";
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
}

}  // namespace sluice::bench
