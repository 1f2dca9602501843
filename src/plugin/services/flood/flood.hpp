// SPDX-License-Identifier: BSD-3-Clause
/// `--flood`: a rank that sends small messages faster than their receiver takes them is held up (control.hpp). All
/// ranks take part or none, for a receiver without the service does not tell how far it is.
#pragma once

#include <memory>

#include "plugin/services/service.hpp"

namespace sluice::plugin {

std::unique_ptr<Service> make_flood();

}  // namespace sluice::plugin
