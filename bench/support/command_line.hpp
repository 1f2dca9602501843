// SPDX-License-Identifier: BSD-3-Clause
/// Includes CLI11, also under the simulator, which defines `exit` as a macro.
#pragma once

#ifdef exit
#undef exit
#endif
#include <CLI/CLI.hpp>  // IWYU pragma: export
