// SPDX-License-Identifier: BSD-3-Clause
#include "chains.hpp"

namespace sluice::plugin {

constinit Chains g_chains{};

}  // namespace sluice::plugin
