#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# overlap.sh SLUICE: the library of whole pages is preloaded beside the plugin where the job overlaps, and else not.
set -euo pipefail
sluice=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export SLUICE_CONFIG=
unset LD_PRELOAD SLUICE_OVERLAP

# preloads "names of libraries" COMMAND…: the command preloads these, in this order; it prints LD_PRELOAD
preloads() {
    local expected=$1 found
    shift
    found=$("$@" | tr ':' '\n' | sed 's|.*/||; s/-\(openmpi\|mpich\)[.]so/.so/' | paste -sd ' ')
    [ "$found" = "$expected" ] && return
    echo "'$*' preloads '$found', not '$expected'"
    exit 1
}

show=(sh -c 'echo "$LD_PRELOAD"')
both='libsluice-preload.so libsluice-pages.so'
preloads libsluice-preload.so "$sluice" run "${show[@]}"
preloads libsluice-preload.so "$sluice" run --overlap off "${show[@]}"
preloads "$both" "$sluice" run --overlap on "${show[@]}"
preloads "$both" "$sluice" run --overlap auto "${show[@]}"
preloads "$both" "$sluice" run --overlap=auto "${show[@]}"
preloads "$both" "$sluice" run --overlap "${show[@]}"
preloads "$both" "$sluice" run --overlap --quiet "${show[@]}"
preloads "$both" env SLUICE_OVERLAP=auto "$sluice" run "${show[@]}"
preloads libsluice-preload.so env SLUICE_OVERLAP=auto "$sluice" run --overlap off "${show[@]}"
echo 'overlap = auto' >"$folder/settings"
preloads "$both" env SLUICE_CONFIG="$folder/settings" "$sluice" run "${show[@]}"
# A job inside the job has its own libraries; those of other tools stay, and come first.
preloads "$both" "$sluice" run --overlap "$sluice" run "${show[@]}"
preloads libsluice-preload.so "$sluice" run --overlap "$sluice" run --overlap off "${show[@]}"
libc=$(ldd /bin/sh | sed -nE 's|.*=> (/.*/libc[.]so[.]6) .*|\1|p')
preloads "libc.so.6 $both" env LD_PRELOAD="$libc" "$sluice" run --overlap "${show[@]}"
# Children that are no MPI programs work.
[ "$("$sluice" run --overlap sh -c 'ls / | wc -l; printf %0300000d 7 | wc -c' | tail -1)" = 300000 ] || exit 1
