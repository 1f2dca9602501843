#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The simulated bed: runs a program built with SimGrid's smpicxx on simulated hosts and links.
#
#   simulated.sh [--platform torus|fattree|dragonfly] [--network wire|smpi] [--wall SECONDS] [--poll SECONDS] -n RANKS PROGRAM [ARGUMENT…]
#
# Platforms are the files of platforms/, named KIND-HOSTS.xml; the smallest one with a host for each rank is taken.
# --network wire (default): a link carries its full nominal rate, so the lower bound is exact.
# --network smpi: SimGrid's own correction factors, fitted on TCP over Gigabit Ethernet (a single message of 16 kB reaches 70 %
# of the rate, a long one 94 %, traffic the other way costs 5 %).
# Time computed between MPI calls does not count, so the results are the same on every machine.
# Ends with 124 if the simulation takes longer than --wall seconds of real time. Leaves nothing behind, even if it is killed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
platform=torus network=wire wall=600 poll=1e-6 ranks=

usage() { sed -n 's/^#  *\(simulated.sh \[.*\)/\1/p' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
    case $1 in
    --platform) platform=$2; shift 2 ;;
    --network) network=$2; shift 2 ;;
    --wall) wall=$2; shift 2 ;;
    --poll) poll=$2; shift 2 ;;
    -n) ranks=$2; shift 2 ;;
    -*) usage ;;
    *) break ;;
    esac
done
[ -n "$ranks" ] && [ $# -gt 0 ] || usage
command -v smpirun >/dev/null || { echo "simulated bed: smpirun is missing (Debian: libsimgrid-dev)" >&2; exit 3; }

file=
for hosts in $(cd "$here/platforms" && ls "$platform"-*.xml 2>/dev/null | sed 's/.*-\([0-9]*\)\.xml/\1/' | sort -n); do
    if [ "$hosts" -ge "$ranks" ]; then file=$here/platforms/$platform-$hosts.xml; break; fi
done
[ -n "$file" ] || { echo "simulated bed: no platform $platform with $ranks hosts" >&2; exit 2; }

case $network in
wire) constants=(--cfg=smpi/bw-factor:0:1 --cfg=smpi/lat-factor:0:1 --cfg=network/crosstraffic:no) ;;
smpi) constants=() ;;
*) usage ;;
esac

scratch=$(mktemp -d)
child=
clean_up() {
    if [ -n "$child" ]; then kill -- "$child" 2>/dev/null || true; fi
    rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 143' TERM INT HUP
seq -f 'node-%g' 0 $((ranks - 1)) >"$scratch/hosts"

# Ranks are threads of one process and share its globals, but the library has none. A poll costs a microsecond (--poll),
# not the 100 of SMPI.
TMPDIR=$scratch timeout "$wall" smpirun -np "$ranks" -platform "$file" -hostfile "$scratch/hosts" \
    --log=root.thresh:error --cfg=smpi/privatization:no --cfg=contexts/stack-size:512 \
    --cfg=smpi/simulate-computation:no --cfg=smpi/host-speed:1f \
    --cfg=smpi/test:0 --cfg=smpi/iprobe:"$poll" --cfg=smpi/grow-injected-times:no \
    "${constants[@]}" "$@" &
child=$!
code=0
wait "$child" || code=$?
child=
exit "$code"
