// SPDX-License-Identifier: BSD-3-Clause
/// What the helper thread sees: memory over time by samples, and how the next rank of the node ends.
#pragma once

#include "plugin/services/service.hpp"

namespace sluice::plugin {

std::unique_ptr<Service> make_watching();

}  // namespace sluice::plugin
