// SPDX-License-Identifier: BSD-3-Clause
/// `--registration`: a helper thread registers the buffers of large messages just before they are used again, in the
/// UCX of the MPI, and gives them back after (registering.hpp). Each rank decides for itself; nothing is sent.
#pragma once

#include <memory>

#include "plugin/services/service.hpp"

namespace sluice::plugin {

std::unique_ptr<Service> make_registration();

}  // namespace sluice::plugin
