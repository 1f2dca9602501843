// SPDX-License-Identifier: BSD-3-Clause
/// All-to-alls in place of unmodified programs, served by src/collectives.
#pragma once

#include "plugin/services/service.hpp"

namespace sluice::plugin {

/// Serves the in-place calls on communicators whose members agreed on an id: over the communicator of all ranks, each
/// with a tag of its own. All other calls go on to the next link.
std::unique_ptr<Service> make_inplace();

}  // namespace sluice::plugin
