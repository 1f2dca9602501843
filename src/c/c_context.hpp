// SPDX-License-Identifier: BSD-3-Clause
/// The context of the C interface.
#pragma once

#include "sluice/context.hpp"

struct sluice_context {
    sluice::Context context;
};
