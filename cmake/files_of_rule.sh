#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# files_of_rule.sh: of a rule of make on standard input, as a compiler writes it, the files that its target is made of, one on
# each line, without those of CMake that only name the project's own by their paths.
set -euo pipefail
sed -E 's/^[^:]*: //; s/[\]$//' | xargs printf '%s\n' | grep -vE '/(cmake_pch[.]hxx|Unity/unity_[^/]*[.]cxx)$'
