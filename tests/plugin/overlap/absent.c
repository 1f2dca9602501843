/* SPDX-License-Identifier: BSD-3-Clause */
#include "absent.h"

#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

int is_absent(void const* address) {
    static int map = -1;
    uint64_t entry = UINT64_MAX;
    if (map < 0) map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    size_t const page = (size_t)sysconf(_SC_PAGESIZE);
    off_t const at = (off_t)((uintptr_t)address / page * sizeof entry);
    if (pread(map, &entry, sizeof entry, at) != (ssize_t)sizeof entry) return 0;
    uint64_t const in_memory_or_swapped = UINT64_C(3) << 62;
    return (entry & in_memory_or_swapped) == 0;
}
