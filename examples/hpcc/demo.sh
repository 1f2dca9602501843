#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# An unmodified program under `sluice run`: Debian's hpcc. It must pass its own verification, and leaves a report of where its
# memory went. hpccinf.txt beside this file makes it small: 4 ranks, a few seconds.
#
#     demo.sh [FOLDER]      FOLDER: where hpcc runs (FOLDER/hpcc) and the report goes (FOLDER/hpcc-report) (build/demo)
#
# Environment: SLUICE (the command), HPCC (the program), MPIRUN (its launcher).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
folder=${1:-$top/build/demo}
sluice=${SLUICE:-$top/build/bin/sluice}
hpcc=${HPCC:-$(command -v hpcc || true)}
mpirun=${MPIRUN:-$(command -v mpirun.openmpi || command -v mpirun || true)}

give_up() {
    echo "demo: $1" >&2
    exit 1
}
[ -x "$sluice" ] || give_up "$sluice is missing; 'make demo' builds it"
[ -n "$hpcc" ] || give_up "no hpcc in PATH (Debian: hpcc)"
[ -n "$mpirun" ] || give_up "no mpirun in PATH (Debian: openmpi-bin)"
if [ "$(id -u)" = 0 ]; then # in a container one often is
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
report=$folder/hpcc-report
output=$folder/hpcc/hpccoutf.txt
rm -rf "${folder:?}/hpcc" "$report"
mkdir "$folder/hpcc"
cp "$here/hpccinf.txt" "$folder/hpcc/"

echo "== mpirun -n 4 sluice run --report ${report#"$PWD/"} hpcc"
status=0
(cd "$folder/hpcc" && timeout --kill-after=5 120 "$mpirun" --oversubscribe -n 4 "$sluice" run --report "$report" "$hpcc" </dev/null) ||
    status=$?
[ "$status" = 0 ] || give_up "hpcc ended with code $status"
[ -s "$output" ] || give_up "hpcc wrote no results into $output"

# hpcc's verdict on its results: how often, at least, its parts report success.
echo
said() {
    local part=$1 least=$2 pattern=$3 times
    times=$(grep -cE "$pattern" "$output" || true)
    [ "$times" -ge "$least" ] || give_up "$part: hpcc reports $times right results, not $least ($output)"
    echo "hpcc: $part: right"
}
said "HPL, a linear system" 1 '^ *[1-9][0-9]* tests completed and passed residual checks,'
said "PTRANS, transposed matrices" 1 '^ *[1-9][0-9]* tests completed and passed residual checks\.'
said "RandomAccess, in four forms" 4 'Found [0-9]+ errors in [0-9]+ locations \(passed\)'
said "STREAM" 1 '^Solution Validates'
said "the whole" 1 '^Success=1$'
if grep -nE 'FAILED|\(failed\)|does not validate|[1-9][0-9]* tests completed and failed|[1-9][0-9]* tests skipped' "$output" >&2; then
    give_up "hpcc found wrong results, see above ($output)"
fi
[ -s "$report/report.html" ] || give_up "there is no page in $report"

echo
echo "The report: file://$report/report.html"
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && command -v xdg-open >/dev/null; then
    xdg-open "$report/report.html" >/dev/null 2>&1 &
fi
