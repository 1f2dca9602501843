// SPDX-License-Identifier: BSD-3-Clause
/// One line on standard error, beginning with "sluice: ".
#pragma once

namespace sluice::plugin {

[[gnu::format(printf, 1, 2)]] void say(char const* format, ...);

}  // namespace sluice::plugin
