#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The relaxation of examples/jacobi3d twice, its memory watched: every ghost face at once, and fetched under tokens. Then both in a
# node between the two peaks. Prints both curves side by side and leaves a page with them.
#
#     demo.sh [FOLDER]      FOLDER: where the page and the samples go, in FOLDER/jacobi3d (build/demo)
#
# Environment: JACOBI3D (the program), MPIRUN (its launcher), STEPS (10), RLIMIT=1 (no control group even as root).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
folder=${1:-$top/build/demo}/jacobi3d
jacobi3d=${JACOBI3D:-$top/build/openmpi/bin/jacobi3d}
mpirun=${MPIRUN:-$(command -v mpirun.openmpi || command -v mpirun || true)}
limited=$top/bench/beds/limited

if [ ! -x "$jacobi3d" ]; then
    echo "demo: $jacobi3d is missing; 'make demo' builds it" >&2
    exit 1
fi
if [ -z "$mpirun" ]; then
    echo "demo: no mpirun in PATH (Debian: openmpi-bin)" >&2
    exit 1
fi
if [ "$(id -u)" = 0 ]; then # in a container one often is
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
rm -rf "$folder"
mkdir -p "$folder"

# run NAME FORM SECONDS OPTIONS-OF-THE-BED…: keeps the output, the samples and the bed's verdict. A job that dies is a
# result, too.
run() {
    local name=$1 form=$2 seconds=$3
    shift 3
    SLUICE_FETCH_MEMORY=1MiB SLUICE_SERVE_MEMORY=512KiB \
        "$limited" "$@" ${RLIMIT:+--rlimit} --processes 2 --timeout "$seconds" --interval 2 \
        --samples "$folder/$name.csv" --report "$folder/$name.json" -- \
        "$mpirun" --oversubscribe --bind-to none -n 2 "$jacobi3d" "$form" "${STEPS:-10}" 6 32 13 \
        </dev/null >"$folder/$name.txt" 2>"$folder/$name-errors.txt" || true
}

echo "== a relaxation over 216 cubes of 32x32x32 points, 13 points wide, 2 ranks: all ghost faces at once, and fetched"
run all all 60
run fetch fetch 60
limit=$(/usr/bin/python3 "$here/demo_report.py" limit "$folder")
run all-small all 10 --memory "$limit"
run fetch-small fetch 60 --memory "$limit"
/usr/bin/python3 "$here/demo_report.py" show "$folder"
