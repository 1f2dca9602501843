#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The problem FT of the NAS Parallel Benchmarks on 4 ranks (class A: an array of 128 MiB), without a limit and in a node that is a
# tenth of the array larger than what the form in place holds: the plain form, with MPI_Alltoall and two arrays, pages there.
#
#     demo.sh [FOLDER]      FOLDER: where the output and the bed's verdicts go, in FOLDER/fft3d (build/demo)
#
# Environment: FFT3D (the folder of the programs), MPIRUN (their launcher), CLASS (A), SECONDS_OF_PLAIN (10: the plain form is ended
# after that time in the small node), RLIMIT=1 (no control group even as root).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
folder=${1:-$top/build/demo}/fft3d
programs=${FFT3D:-$top/build/openmpi/bin}
mpirun=${MPIRUN:-$(command -v mpirun.openmpi || command -v mpirun || true)}
class=${CLASS:-A}

if [ ! -x "$programs/fft3d" ]; then
    echo "demo: fft3d is left out, because it was not built (Debian: libfftw3-dev)"
    exit 0
fi
if [ -z "$mpirun" ]; then
    echo "demo: no mpirun in PATH (Debian: openmpi-bin)" >&2
    exit 1
fi
options=(--processes 4 --interval 2)
swap=()
if [ "$(id -u)" = 0 ]; then # in a container one often is
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    [ -n "${RLIMIT:-}" ] || swap=(--swap 512MiB)
fi
[ -z "${RLIMIT:-}" ] || options+=(--rlimit)
rm -rf "$folder"
mkdir -p "$folder"

# run NAME PROGRAM OPTIONS-OF-THE-BED…: keeps the output and the bed's verdict. A job that is ended is a result, too.
run() {
    local name=$1 program=$2
    shift 2
    "$top/bench/beds/limited" "${options[@]}" "$@" --report "$folder/$name.json" -- \
        "$mpirun" --oversubscribe --bind-to none -n 4 "$programs/$program" "$class" \
        </dev/null >"$folder/$name.txt" 2>"$folder/$name-errors.txt" || true
}
echo "== FT, class $class, 4 ranks: transposes in place, and by MPI_Alltoall with two arrays"
run in-place fft3d
run plain fft3d_plain
limit=$(/usr/bin/python3 "$here/demo_report.py" limit "$folder")
run in-place-small fft3d "${swap[@]}" --memory "$limit" --timeout 60
run plain-small fft3d_plain "${swap[@]}" --memory "$limit" --timeout "${SECONDS_OF_PLAIN:-10}"
/usr/bin/python3 "$here/demo_report.py" show "$folder"
