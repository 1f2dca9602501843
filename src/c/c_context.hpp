// SPDX-License-Identifier: BSD-3-Clause
/// What the C interface calls a context.
#pragma once

#include "sluice/context.hpp"

struct sluice_context {
    sluice::Context context;
};
