#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# check_tidy.sh BUILD_FOLDER JOBS: runs clang-tidy over all that the build folder compiles of the project: its sources, or
# the files of a unity build, which include eight of them each and are checked in a quarter of the time. What has passed is
# not checked again until it, a header, or the checks change; marks in the build folder record this.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1 jobs=$2
marks=$folder/tidy
mkdir -p "$marks"
common=$(git ls-files -z --cached --others --exclude-standard '*.hpp' '*.h' '*.def' .clang-tidy | xargs -0 sha256sum | sha256sum)

tidy_one() {
    local file=$1 mark sources=("$1") checks=()
    if [[ $file == */Unity/unity_*.cxx ]]; then
        mapfile -t sources < <(sed -nE 's/^#include "(.*)"$/\1/p' "$file")
        checks=(--checks=-bugprone-suspicious-include) # of sources; cmake/check_files.sh refuses it in the project's own
    fi
    mark=$2/$(echo "$3 $file" | cat - "${sources[@]}" | sha256sum | cut -c1-40)
    [ -e "$mark" ] && return
    # The count of suppressed warnings in system headers is of no interest.
    clang-tidy --quiet "${checks[@]}" -p "$4" "$file" 2> >(grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header' >&2) &&
        touch "$mark"
}
export -f tidy_one

sed -nE 's/^ *"file": "(.*)",?$/\1/p' "$folder/compile_commands.json" | sort -u | grep -F "$PWD/" |
    grep -E '/Unity/unity_[0-9]+_cxx[.]cxx$|[.]cpp$' | grep -vE "^$PWD/build/.*[.]cpp$" |
    xargs -r -P "$jobs" -I{} bash -c 'tidy_one "$@"' tidy {} "$marks" "$common" "$folder"
