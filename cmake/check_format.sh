#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs clang-format over every C and C++ source, without changing it.
set -euo pipefail
cd "$(dirname "$0")/.."
# settings.def is formatted by hand: it is a table.
git ls-files -z --cached --others --exclude-standard '*.cpp' '*.hpp' '*.h' '*.c' |
    xargs -0 -r -n 20 -P 2 clang-format --dry-run -Werror
