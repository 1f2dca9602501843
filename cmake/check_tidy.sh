#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# check_tidy.sh BUILD_FOLDER JOBS: looks with Clang at all that the build folder would compile of the project: with clang-tidy
# at its sources, or at the files of a unity build, which include eight of them each and are checked in a quarter of the time;
# for warnings alone, which clang-tidy tells as well, at sources in C and at those that a build writes. What clang-tidy has
# passed is not checked again until the file, one that it includes, its command, or the checks change; marks in the user's
# cache record this for all clones.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1 jobs=$2
marks=${XDG_CACHE_HOME:-$HOME/.cache}/sluice/tidy
mkdir -p "$marks"
find "$marks" -type f -mtime +90 -delete
common=$({ clang-tidy --version; cat .clang-tidy; } | sha256sum)

# What a build writes before it compiles.
ninja -C "$folder" -t targets all | sed -nE 's/^(cmake_object_order_depends_target_[^:]*): phony$/\1/p' |
    xargs -r ninja -C "$folder" >"$folder.written.log" 2>&1 || { cat "$folder.written.log"; exit 1; }

tidy_one() {
    local file=$1 command mark checks=()
    if [[ $file == */Unity/unity_*.cxx ]]; then
        checks=(--checks=-bugprone-suspicious-include) # of sources; cmake/check_files.sh refuses it in the project's own
    fi
    command=$(python3 cmake/commands_of.py "$4/compile_commands.json" "-M -MF /dev/stdout" <<<"$file" | tr -d '\0')
    mark=$2/$({ echo "$3 ${command//"$PWD"/}" && bash -c "$command" | cmake/files_of_rule.sh | xargs cat; } | sha256sum | cut -c1-40)
    [ -e "$mark" ] && touch "$mark" && return
    # The count of suppressed warnings in system headers is of no interest.
    clang-tidy --quiet "${checks[@]}" -p "$4" "$file" 2> >(grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header' >&2) &&
        touch "$mark"
}
export -f tidy_one

# Which of the files are the project's sources, and which are only compiled.
is_source='/Unity/unity_[0-9]+_cxx[.]cxx$|[.]cpp$'
is_written="^$PWD/build/.*[.]cpp$"
# The rooms that are compiled a second time for the plugin (src/plugin/CMakeLists.txt) are checked once.
twice='/sluice_straight_(mpi|types|groups|node|engine|collectives)[.]dir/'
files=$(sed -nE 's/^ *"file": "(.*)",?$/\1/p' "$folder/compile_commands.json" | sort -u | grep -F "$PWD/" | grep -vE "$twice")
grep -E "$is_source" <<<"$files" | grep -vE "$is_written" |
    xargs -r -P "$jobs" -I{} bash -c 'tidy_one "$@"' tidy {} "$marks" "$common" "$folder"
grep -vE "$is_source" <<<"$files" | cat - <(grep -E "$is_written" <<<"$files") |
    python3 cmake/commands_of.py "$folder/compile_commands.json" -fsyntax-only | xargs -r -0 -P "$jobs" -n 1 bash -c
