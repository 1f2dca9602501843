// SPDX-License-Identifier: BSD-3-Clause
/// Bytes that a call of the program has asked for and that come after it has returned (Call::arrives_later).
#pragma once

#include <cstdint>

namespace sluice::plugin {

struct Arrival {
    std::uint32_t site = 0;        ///< of the call
    std::uint64_t bytes = 0;       ///< in flight until they have come
    void const* buffer = nullptr;  ///< that they come into, if pages of it were not resident at the begin of the call
    std::uint64_t span = 0;        ///< of the buffer in bytes
    std::uint64_t absent = 0;      ///< bytes of it whose pages were not resident
};

}  // namespace sluice::plugin
