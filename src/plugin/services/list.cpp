// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include "plugin/services/chain.hpp"
#include "plugin/services/check/links.hpp"
#include "plugin/services/flood/flood.hpp"
#include "plugin/services/inplace/inplace.hpp"
#include "plugin/services/overlap/overlap.hpp"
#include "plugin/services/registration/registration.hpp"
#include "plugin/services/service.hpp"
#include "plugin/services/watching/watching.hpp"

namespace sluice::plugin {

Services make_services() {
    // Checks come first, for what they find must not have begun. Overlap comes
    // before flood control, whose calls of MPI thus are in its turn. In-place all-to-alls serve other functions.
    // Registration comes behind them, for it serves what they leave to the MPI. Watching comes last: its samples then
    // begin when the others hold what they need, and end before they let go of it.
    constexpr std::array makers{make_check, make_overlap, make_flood, make_inplace, make_registration, make_watching};
    static_assert(makers.size() == k_most_links, "each service may add one link to a function (chain.hpp)");
    Services services;
    for (auto const make : makers)
        services.push_back(make());
    return services;
}

}  // namespace sluice::plugin
