// SPDX-License-Identifier: BSD-3-Clause
// Loaded before a program: the kernel then gives no thread a table of descriptors of its own, as an old one would not.
#include "support/limits/refuse_call.h"

__attribute__((constructor)) static void refuse_close_range(void) {
    refuse_call(SYS_close_range);
}
