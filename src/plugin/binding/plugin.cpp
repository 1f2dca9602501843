// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/binding/plugin.hpp"

namespace sluice::plugin {

constinit Plugin g_plugin{};

}  // namespace sluice::plugin
