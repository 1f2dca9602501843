// SPDX-License-Identifier: BSD-3-Clause
#include <iomanip>
#include <sstream>

#include "base/units.hpp"
#include "sluice/redistribute.hpp"

namespace sluice {

double RedistributionReport::seconds() const {
    double sum = 0;
    for (auto const& [step, seconds] : steps)
        sum += seconds;
    return sum;
}

std::string RedistributionReport::text() const {
    std::ostringstream text;
    text << std::fixed << std::setprecision(3);
    text << "strategy " << name_of(strategy) << " (" << why << "), " << seconds() * 1e3 << " ms\n";
    text << "  steps:";
    for (auto const& [step, seconds] : steps)
        text << ' ' << step << ' ' << seconds * 1e3 << " ms;";
    text << "\n  sent " << blocks_sent << " blocks (" << base::format_bytes(bytes_sent) << "), received "
         << blocks_received << " (" << base::format_bytes(bytes_received) << "), copied on this rank " << blocks_local
         << " (" << base::format_bytes(bytes_local) << ")\n";
    text << "  rounds " << rounds << ", open requests at most " << requests_peak
         << ", memory in addition to the array at most " << base::format_bytes(extra_peak) << '\n';
    if (!counters.empty()) {
        text << "  counted:";
        for (auto const& [name, value] : counters)
            text << ' ' << name << ' ' << value << ';';
        text << '\n';
    }
    return text.str();
}

}  // namespace sluice
