// SPDX-License-Identifier: BSD-3-Clause
/// The service --check, and how the arguments of each collective function are compared.
#pragma once

#include "plugin/services/service.hpp"

namespace sluice::plugin {

/// Checks calls on communicators whose members agreed on an id, and counts those on others.
std::unique_ptr<Service> make_check();

}  // namespace sluice::plugin
