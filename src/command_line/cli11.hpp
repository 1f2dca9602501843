// SPDX-License-Identifier: BSD-3-Clause
/// Includes CLI11, also under the simulator, which defines `exit` as a macro. Only the sources of this room include it:
/// its templates take many seconds to compile.
#pragma once

#ifdef exit
#undef exit
#endif
#include <CLI/CLI.hpp>  // IWYU pragma: export
