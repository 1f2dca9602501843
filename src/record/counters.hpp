// SPDX-License-Identifier: BSD-3-Clause
/// Counters of services in the record of a rank. A service gets its counters when it starts and adds to them where it
/// does what they count, so they are in every report, also in that of a killed job.
#pragma once

#include <cstdint>
#include <string_view>

#include "record/record.hpp"

namespace sluice::record {

/// Returns the value of a counter, which is made if there is none of this name. Names are cut to the room of Counter.
/// When the table is full, the last entry counts for all further names. Call it from one thread at a time.
std::uint64_t& counter_in(RankRecord& record, std::string_view service, std::string_view what) noexcept;

}  // namespace sluice::record
