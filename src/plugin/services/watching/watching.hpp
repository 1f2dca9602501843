// SPDX-License-Identifier: BSD-3-Clause
/// Attribution of memory over time: samples taken on the helper thread.
#pragma once

#include "plugin/services/service.hpp"

namespace sluice::plugin {

std::unique_ptr<Service> make_watching();

}  // namespace sluice::plugin
