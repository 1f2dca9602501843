// SPDX-License-Identifier: BSD-3-Clause
/// Processor time of the plugin's helper thread.
#pragma once

namespace sluice::bench {

/// Returns the seconds that this process's threads named "sluice" have run so far; 0 if there are none.
double helper_seconds();

}  // namespace sluice::bench
