// SPDX-License-Identifier: BSD-3-Clause
/// Figures of a rank that cannot all be true.
#pragma once

#include <string>
#include <vector>

#include "record/record.hpp"

namespace sluice::report {

/// The first contradiction of each kind, in words: the parts of the memory are more than all of it, more was in flight
/// than the application had, a sample is above the peak, or a part of a time is longer than the whole. Empty if the
/// figures agree. Of a rank that may still run the record may change while it is read: then nothing is said.
std::vector<std::string> contradictions_of(record::RankRecord const& record);

}  // namespace sluice::report
