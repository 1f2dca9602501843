// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include "plugin/services/chain.hpp"
#include "plugin/services/check/links.hpp"
#include "plugin/services/inplace/inplace.hpp"
#include "plugin/services/service.hpp"
#include "plugin/services/watching/watching.hpp"

namespace sluice::plugin {

std::span<Service* const> services() {
    // Checks come first, for what they find must not have begun. Watching comes last: its samples then begin when the
    // others hold what they need, and end before they let go of it.
    static std::array<Service*, 3> const list{&check_service(), &inplace_service(), &watching_service()};
    static_assert(list.size() <= k_most_links);
    return list;
}

}  // namespace sluice::plugin
