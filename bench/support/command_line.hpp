// SPDX-License-Identifier: BSD-3-Clause
/// CLI11, also where the simulator has made a macro of exit.
#pragma once

#ifdef exit
#undef exit
#endif
#include <CLI/CLI.hpp>  // IWYU pragma: export
