#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The limited bed says what became of a command, and leaves nothing behind. Argument: the bed.
set -uo pipefail
bed=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

# expect WHAT STATUS OUTCOME OPTIONS… -- COMMAND…
expect() {
    local what=$1 status=$2 outcome=$3 found=0
    shift 3
    "$bed" --report "$scratch/report.json" "$@" >"$scratch/out" 2>&1 || found=$?
    if [ "$found" != "$status" ] || ! grep -q "\"outcome\": \"$outcome\"" "$scratch/report.json"; then
        echo "FAILED: $what: status $found, wanted $status and $outcome:"
        cat "$scratch/out" "$scratch/report.json"
        failures=$((failures + 1))
    fi
}

hundred='x = b"a" * 100000000; print(sum(x[::4096]))'
expect "what fits runs" 0 ok --memory 300MiB -- /usr/bin/python3 -c "$hundred"
expect "a failure is passed on" 3 failed --memory 300MiB -- sh -c 'exit 3'
expect "what hangs is ended" 124 timeout --memory 300MiB --timeout 0.5 -- sleep 3600
expect "RLIMIT_DATA makes an allocation fail" 1 failed --rlimit --memory 50MiB -- /usr/bin/python3 -c "$hundred"
expect "RLIMIT_DATA is shared between processes" 1 failed --rlimit --memory 200MiB --processes 4 -- /usr/bin/python3 -c "$hundred"
expect "without a limit it only watches" 0 ok --samples "$scratch/samples.csv" --interval 2 -- /usr/bin/python3 -c "$hundred"
if [ "$(wc -l <"$scratch/samples.csv")" -lt 3 ]; then
    echo "FAILED: no samples"
    failures=$((failures + 1))
fi

group=$("$bed" --memory 300MiB -- sh -c 'echo "${LIMITED_CGROUP:-none}"' 2>"$scratch/out")
if [ "$group" = none ]; then
    echo "no control group here, only RLIMIT_DATA was tried: $(cat "$scratch/out")"
else
    expect "what does not fit into the group is killed" 137 killed --memory 20MiB -- /usr/bin/python3 -c "$hundred"
    # Each node has the size for itself, and the launcher has none.
    two='echo $$ >"$LIMITED_CGROUP/$0/cgroup.procs"; exec /usr/bin/python3 -c "$1"'
    expect "a node that is too small kills" 137 killed --nodes 2 --memory 20MiB -- sh -c "$two" node1 "$hundred"
    expect "what fits into a node runs" 0 ok --nodes 2 --memory 200MiB -- sh -c "$two" node0 "$hundred"
    expect "the launcher is in no node" 0 ok --nodes 2 --memory 20MiB -- /usr/bin/python3 -c "$hundred"
    "$bed" --nodes 2 --memory 50MiB -- sh -c 'echo "$LIMITED_CGROUP"; exec sleep 3600' >"$scratch/group" 2>/dev/null &
    until [ -s "$scratch/group" ]; do sleep 0.1; done
    kill -KILL $!
    wait $! 2>/dev/null
    # A killed bed leaves no group.
    while [ -d "$(cat "$scratch/group")" ]; do sleep 0.1; done
fi
[ "$failures" = 0 ]
