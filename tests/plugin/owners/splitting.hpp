// SPDX-License-Identifier: BSD-3-Clause
/// A service of the tests: nonblocking and persistent messages with certain tags travel in two, the first element and
/// the rest, and the program holds one request for both. So every call on requests is one on owned requests, while the
/// program must notice nothing. Both sides must post these messages as requests.
#pragma once

#include "plugin/services/service.hpp"

namespace sluice::plugin::tests {

std::unique_ptr<Service> make_splitting();

}  // namespace sluice::plugin::tests
