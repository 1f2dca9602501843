// SPDX-License-Identifier: BSD-3-Clause
#include "sluice/version.h"

#define SLUICE_TEXT_OF(number) #number
#define SLUICE_VERSION_TEXT(major, minor, patch) \
    SLUICE_TEXT_OF(major) "." SLUICE_TEXT_OF(minor) "." SLUICE_TEXT_OF(patch)

char const* sluice_version(void) {
    return SLUICE_VERSION_TEXT(SLUICE_VERSION_MAJOR, SLUICE_VERSION_MINOR, SLUICE_VERSION_PATCH);
}

int sluice_version_number(void) {
    return SLUICE_VERSION_NUMBER;
}
