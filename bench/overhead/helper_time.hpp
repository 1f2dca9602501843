// SPDX-License-Identifier: BSD-3-Clause
/// Processor time of the plugin's helper thread.
#pragma once

namespace sluice::bench {

/// Seconds that this process's threads of the name "sluice" have run so far; 0 where there is none.
double helper_seconds();

}  // namespace sluice::bench
