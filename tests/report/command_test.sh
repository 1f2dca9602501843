#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice report` as a user calls it: command_test.sh SLUICE MAKE_FOLDER
set -uo pipefail
sluice=$1 make_folder=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

# one_line WHAT TEXT COMMAND…: expects status 2 and one line only, which contains TEXT.
one_line() {
    local what=$1
    expect "$1" 2 "$2" "${@:3}"
    [ "$(wc -l <"$scratch/out")" = 1 ] || { echo "FAILED: $what: more than one line"; cat "$scratch/out"; failures=$((failures + 1)); }
}
# expect WHAT STATUS TEXT COMMAND…: expects the status, and output that contains TEXT.
expect() {
    local what=$1 status=$2 text=$3 found=0
    shift 3
    "$@" >"$scratch/out" 2>&1 || found=$?
    if [ "$found" != "$status" ] || ! grep -qF -- "$text" "$scratch/out"; then
        echo "FAILED: $what: status $found, wanted $status and '$text':"
        cat "$scratch/out"
        failures=$((failures + 1))
    fi
}
there() { [ -s "$1" ] || { echo "FAILED: $1 is missing"; failures=$((failures + 1)); }; }

"$make_folder" "$scratch/killed" 4 flooded
"$make_folder" "$scratch/ended" 4 healthy
"$make_folder" "$scratch/early" 4 early
mkdir "$scratch/empty"

expect "a killed job is explained" 0 "did not end" "$sluice" report "$scratch/killed"
there "$scratch/killed/report.json"
there "$scratch/killed/trace.json"
# A launcher may return while it still ends the ranks that one has left behind.
sleep 1000 &
ending=$!
"$make_folder" "$scratch/ending" 2 flooded $ending
(sleep 0.2; kill -9 $ending) &
expect "ranks that are ending are waited for" 0 "did not end" "$sluice" report "$scratch/ending"
there "$scratch/ending/report.json"
wait
sleep 1000 &
"$make_folder" "$scratch/running" 2 flooded $!
expect "a rank that lives on may run" 0 "may still run" "$sluice" report "$scratch/running"
[ ! -e "$scratch/running/report.json" ] || { echo "FAILED: a report of a job that may run is written"; failures=$((failures + 1)); }
kill $!
expect "records make a report" 0 "4 ranks · Open MPI 4.1.4" "$sluice" report "$scratch/ended"
rm "$scratch"/ended/node-*
expect "a report alone is shown" 0 "4 ranks · Open MPI 4.1.4" "$sluice" report "$scratch/ended"
expect "what receives that returned early have hidden" 0 "hidden     1.80 s of waiting in 166 receives" "$sluice" report "$scratch/early"
expect "JSON" 0 '"what":"Sluice report"' "$sluice" report --json "$scratch/ended"
expect "a timeline" 0 "4 ranks" "$sluice" report "$scratch/ended" --trace "$scratch/t.json"
there "$scratch/t.json"
expect "two side by side" 0 "change" "$sluice" report "$scratch/killed" "$scratch/ended"
one_line "an empty folder" "holds neither report.json nor node-*.sluice" "$sluice" report "$scratch/empty"
one_line "no folder" "is not a folder" "$sluice" report "$scratch/none"
one_line "no folder named and no job left behind" "No job left its records" env TMPDIR="$scratch/none" "$sluice" report
mkdir -p "$scratch/tmp/sluice-$(id -u)"
"$make_folder" "$scratch/tmp/sluice-$(id -u)/job" 4 flooded
expect "the last job that did not end" 0 "did not end" env TMPDIR="$scratch/tmp" "$sluice" report
one_line "three folders" "at most two folders can be compared, and 3 were named" "$sluice" report "$scratch/killed" "$scratch/ended" "$scratch/ended"
one_line "a file instead of a folder" "report.json is not a folder" "$sluice" report "$scratch/ended/report.json"
expect "an unknown option" 2 "did you mean '--html'" "$sluice" report --htm x "$scratch/ended"
expect "a file that cannot be written" 1 "cannot write" "$sluice" report "$scratch/ended" --trace "$scratch/none/t.json"
cp "$scratch/ended/report.json" "$scratch/whole.json"
broken() { one_line "$1" "report.json: $2" "$sluice" report "$scratch/ended"; }
sed 's/"kib": *[0-9]*/"kib":1/' "$scratch/whole.json" >"$scratch/ended/report.json"
expect "figures that contradict each other" 0 "a fault of Sluice, please report it: figures of the job contradict each other: the highest peak is 1 KiB" \
    "$sluice" report "$scratch/ended"
head -c 1000 "$scratch/whole.json" >"$scratch/ended/report.json"
broken "a report that is cut off" "it is cut off after 1000 bytes"
: >"$scratch/ended/report.json"
broken "an empty report" "it is empty"
echo garbage >"$scratch/ended/report.json"
broken "a report that is none" "it is not JSON from byte 1 on"
echo '{"what":"Sluice report","format": 12}' >"$scratch/ended/report.json"
broken "a report without its figures" "it is not a whole report: key 'world_size' not found"
echo '{"what":"Sluice report","format":3}' >"$scratch/ended/report.json"
broken "a report of an older version" "its format is 3, this version reads 12"
echo '{"what":"else"}' >"$scratch/ended/report.json"
broken "what is JSON and no report" "it is not a Sluice report"
one_line "two folders of which one is broken" "it is not a Sluice report" "$sluice" report "$scratch/killed" "$scratch/ended"
cp "$scratch"/killed/node-* "$scratch/ended"
echo garbage >"$scratch/ended/report.json"
expect "records instead of a broken report" 0 "taking the records of the ranks instead" "$sluice" report "$scratch/ended"

# A later job that was killed leaves records next to the report of the job before.
cp "$scratch"/killed/node-* "$scratch/empty"
sed -n 1p "$scratch/killed/report.json" >"$scratch/empty/report.json"
expect "records later than the report" 0 "did not end" "$sluice" report "$scratch/empty"

# plain WHAT COMMAND…: the output has no character that a terminal obeys, except new lines.
plain() {
    local what=$1
    shift
    "$@" >"$scratch/out" 2>&1
    if LC_ALL=C grep -qaP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$scratch/out" || [ ! -s "$scratch/out" ]; then
        echo "FAILED: $what: control characters reach the terminal:"
        od -c "$scratch/out" | head
        failures=$((failures + 1))
    fi
}
odd=$'odd\e[2J\xc2\x9b31m\xff'
plain "a folder that does not exist" "$sluice" report "$scratch/$odd"
mkdir "$scratch/$odd"
plain "a folder without a report" "$sluice" report "$scratch/$odd"
echo garbage >"$scratch/$odd/node-$odd.sluice"
plain "a file of records" "$sluice" report "$scratch/$odd"
plain "a program that does not exist" "$sluice" run "./$odd"
plain "a setting" env SLUICE_REPORT="$odd" "$sluice" info
plain "a setting as JSON" env SLUICE_REPORT="$odd" "$sluice" info --json
plain "an unknown variable" env "SLUICE_$odd=1" "$sluice" info
plain "an unknown command" "$sluice" "$odd"
if [ "$failures" -gt 0 ]; then exit 1; fi
echo "all well"
