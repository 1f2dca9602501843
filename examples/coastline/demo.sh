#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The main job on real data: the coastlines of the world, redistributed in place under a memory limit that pack, MPI_Alltoallv
# and unpack do not survive. Prints what happened and draws it.
#
#     demo.sh [FOLDER]      FOLDER: where results and pictures go (build/demo)
#
# Environment: PAIRS (3) runs of each way without limit, RANKS (4), FILL (83) per cent of the memory left after MPI_Init that
# the data fill under the limit, COASTLINE (the program), MPIRUN (its launcher), RLIMIT=1 (no control group even as root).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
folder=${1:-$top/build/demo}
ranks=${RANKS:-4}
pairs=${PAIRS:-3}
fill=${FILL:-83}
coastline=${COASTLINE:-$top/build/openmpi/bin/coastline}
mpirun=${MPIRUN:-$(command -v mpirun.openmpi || command -v mpirun || true)}
limited=$top/bench/beds/limited

if [ ! -x "$coastline" ]; then
    echo "demo: $coastline is missing; 'make demo' builds it" >&2
    exit 1
fi
if [ -z "$mpirun" ]; then
    echo "demo: no mpirun in PATH (Debian: openmpi-bin)" >&2
    exit 1
fi
if [ "$(id -u)" = 0 ]; then # in a container one often is
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

# run NAME WAYS OPTIONS-OF-THE-BED…: writes events, samples and points to a folder of its own. A job that dies is a
# result, too.
run() {
    local name=$1 ways=$2
    shift 2
    rm -rf "${folder:?}/$name"
    mkdir -p "$folder/$name"
    "$limited" "$@" ${RLIMIT:+--rlimit} --processes "$ranks" --timeout 100 --interval 2 \
        --samples "$folder/$name/samples.csv" --report "$folder/$name/outcome.json" -- \
        "$mpirun" --oversubscribe -n "$ranks" "$coastline" --ways "$ways" --record "$folder/$name" \
        </dev/null 2>"$folder/$name/errors.txt" || true
    tail -n 1 "$folder/$name/errors.txt"
}

echo "== no limit: both ways by turns"
ways=$(for _ in $(seq "$pairs"); do echo -n "alltoallv,sluice,"; done)
run compare "${ways%,}"

echo "== no limit: the memory that pack, MPI_Alltoallv, unpack takes"
run unlimited alltoallv

limit=$(/usr/bin/python3 "$here/demo_report.py" limit "$folder" "$fill")
echo "== the data fill $fill % of what is left: pack, MPI_Alltoallv, unpack"
run alltoallv alltoallv --memory "$limit"

echo "== the data fill $fill % of what is left: Sluice"
run sluice sluice --memory "$limit"

echo
status=0
/usr/bin/python3 "$here/demo_report.py" table "$folder" || status=$?
if /usr/bin/python3 -c 'import matplotlib' 2>/dev/null; then
    /usr/bin/python3 "$here/draw.py" "$folder"
else
    echo "demo: python3-matplotlib is missing, so nothing is drawn" >&2
fi
exit $status
