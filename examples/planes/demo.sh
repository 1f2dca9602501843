#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# An unmodified program on two nodes with a wire of 1 Gbit/s between them, without and with `sluice run --overlap auto`: its sum is
# the same, and its exchange goes on while it computes. The nodes are network namespaces, which needs root.
#
#     demo.sh
#
# Environment: SLUICE (the command), PLANES (the program, built for Open MPI), STEPS (20).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
sluice=${SLUICE:-$top/build/bin/sluice}
planes=${PLANES:-$top/build/openmpi/bin/planes}
steps=${STEPS:-20}

give_up() {
    echo "demo: $1" >&2
    exit 1
}
[ -x "$sluice" ] || give_up "$sluice is missing; 'make demo' builds it"
[ -x "$planes" ] || give_up "$planes is missing; 'make demo' builds it"

run() { # words before the program
    "$top/bench/beds/cluster" --mpi openmpi --rate 1000 -n 2 -- "$@" "$planes" "$steps"
}
echo "== planes on two nodes, 1 Gbit/s between them, $steps steps"
code=0
plain=$(run) || code=$?
if [ "$code" = 3 ]; then
    echo "demo: left out, because the wire cannot be made (see above)"
    exit 0
fi
[ "$code" = 0 ] || give_up "planes ended with code $code"
echo "                          $plain"
said=$(mktemp)
trap 'rm -f "$said"' EXIT
served=$(run "$sluice" run --overlap auto 2>"$said") || { cat "$said" >&2; give_up "planes ended with code $? under sluice run"; }
echo "sluice run --overlap auto $served"
grep -A 2 -E '^sluice: hidden' "$said" || { cat "$said" >&2; give_up "nothing was hidden"; }

python3 - "$plain" "$served" <<'PYTHON'
import re
import sys

plain, served = (re.search(r"([\d.]+) s, sum (\S+)", text).groups() for text in sys.argv[1:])
if plain[1] != served[1]:
    sys.exit(f"demo: the sums differ: {plain[1]} and {served[1]}")
print(f"The same sum in {float(served[0]) / float(plain[0]):.2f} of the time.")
PYTHON
