/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

// No page is at this address: in memory that was written before, its data are still to come.
int is_absent(void const* address);
