#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sum_precompiled.sh COMMAND…: runs the command of a compiler. If that compiled a header, its output gets a sum beside it, of
# all files that it was compiled from. ccache takes the sum for the output (CCACHE_PCH_EXTSUM), which with Clang has the
# path of the build folder within.
set -euo pipefail
"$@"
while [ $# -gt 1 ]; do
    case $1 in
    -MF) rule=$2 ;;
    -o) output=$2 ;;
    esac
    shift
done
[[ ${output:-} == *.pch ]] || exit 0
"$(dirname "$0")/files_of_rule.sh" <"$rule" | xargs sha256sum | cut -d ' ' -f 1 | sha256sum >"$output.sum"
