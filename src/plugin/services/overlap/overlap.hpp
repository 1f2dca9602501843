// SPDX-License-Identifier: BSD-3-Clause
/// `--overlap`: blocking receives return when their message is matched, and the program waits for data that it touches
/// before they have come (receiving.hpp). Each rank decides for itself; nothing is asked of the ranks that send.
#pragma once

#include <memory>

#include "plugin/services/service.hpp"

namespace sluice::plugin {

std::unique_ptr<Service> make_overlap();

}  // namespace sluice::plugin
