#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# uninstall.sh FOLDER…: removes the files that `cmake --install FOLDER` has installed last, and folders that are empty then.
set -euo pipefail
found=0
for folder in "$@"; do
    list=$folder/install_manifest.txt
    [ -e "$list" ] || continue
    found=1
    while IFS= read -r file || [ -n "$file" ]; do
        rm -f -- "${DESTDIR:-}$file"
        rmdir --parents --ignore-fail-on-non-empty -- "$(dirname "${DESTDIR:-}$file")" 2>/dev/null || true
    done <"$list"
    rm -f "$list"
done
[ $found = 1 ] || echo "nothing to remove: no list of installed files is in $*"
