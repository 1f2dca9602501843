// SPDX-License-Identifier: BSD-3-Clause
#include "hooks.hpp"

namespace sluice::plugin {

Hooks g_hooks{};

}  // namespace sluice::plugin
