#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# uninstall.sh BUILD SCRIPT FOLDER: what `cmake --install BUILD` puts below a prefix is gone after SCRIPT, except for files of
# others.
set -euo pipefail
build=$1 script=$2 folder=$3
prefix=$folder/prefix
rm -rf "$folder"
mkdir -p "$prefix/bin"
touch "$prefix/bin/of-another-package"
cmake --install "$build" --prefix "$prefix" >/dev/null
[ "$(find "$prefix" -type f | wc -l)" -gt 10 ]
"$script" "$build"
left=$(cd "$prefix" && find . -mindepth 1)
[ "$left" = "./bin
./bin/of-another-package" ] || { echo "left behind: $left" && exit 1; }
"$script" "$build" | grep -q "nothing to remove"
