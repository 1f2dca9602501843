// SPDX-License-Identifier: BSD-3-Clause
/// The user, the command and the hosts of the job: only with the setting `identify`.
#pragma once

#include "record/record.hpp"

namespace sluice::plugin {

/// Writes host name, user and command with its arguments into the record. What cannot be found stays empty.
void identify(record::RankHead& head) noexcept;

}  // namespace sluice::plugin
