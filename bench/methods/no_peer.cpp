// SPDX-License-Identifier: BSD-3-Clause
#include "methods/method.hpp"

namespace sluice::bench {

std::optional<MethodEntry> peer_method() {
    return std::nullopt;
}

}  // namespace sluice::bench
