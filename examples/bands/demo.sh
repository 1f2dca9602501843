#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# An unmodified program whose rank 0 is flooded by the others, without and with `sluice run --flood on`: the picture is the same, and
# rank 0 does not grow. The report of the run without says what to do; both are compared, and kept with their pages.
#
#     demo.sh FOLDER
#
# Environment: SLUICE (the command), BANDS (the program, built for Open MPI), MPIRUN, ROWS (24576).
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
folder=${1:-$top/build/demo}
sluice=${SLUICE:-$top/build/bin/sluice}
bands=${BANDS:-$top/build/openmpi/bin/bands}
mpirun=${MPIRUN:-mpirun.openmpi}
rows=${ROWS:-24576}
[ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

give_up() {
    echo "demo: $1" >&2
    exit 1
}
[ -x "$sluice" ] || give_up "$sluice is missing; 'make demo' builds it"
[ -x "$bands" ] || give_up "$bands is missing; 'make demo' builds it"
mkdir -p "$folder"
said=$(mktemp)
trap 'rm -f "$said"' EXIT

run() { # picture, options of sluice run
    "$mpirun" --oversubscribe -n 4 "$sluice" run "${@:2}" "$bands" "$folder/$1" "$rows" 2>"$said" ||
        { cat "$said" >&2; give_up "bands ended with code $?"; }
}
echo "== bands: 3 ranks send rows of a picture to rank 0, which takes them rank by rank"
plain=$(run plain.pgm --report "$folder/bands-report")
echo "sluice run             $plain"
sed -n '/^sluice: advice/,/estimate)\./p' "$said"
sed 's/^sluice: *//' "$said" | tr '\n' ' ' | grep -q -- '--flood on' || give_up "the report does not say what bounds the flood"
held=$(run held.pgm --flood on --report "$folder/bands-held-report")
echo "sluice run --flood on  $held"
cmp "$folder/plain.pgm" "$folder/held.pgm" || give_up "the pictures differ"
python3 - "$plain" "$held" <<'PYTHON'
import re
import sys

plain, held = (float(re.search(r"grew by ([\d.]+) MiB", text).group(1)) for text in sys.argv[1:])
if held > 1 or held > plain / 4:
    sys.exit(f"demo: rank 0 grew by {held} MiB with flood control, by {plain} MiB without")
print(f"The same picture, and {plain - held:.1f} MiB less in rank 0.")
PYTHON
echo "== the flood without and with, as sluice report compares them"
"$sluice" report "$folder/bands-report" "$folder/bands-held-report"
