#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# phase.sh NAME COMMAND…: runs the command and prints how long it took, and how much processor time it used.
set -uo pipefail
name=$1
shift
echo "== $name"
TIMEFORMAT="== $name: %0R s, %0U s of processor time"
time "$@"
status=$?
[ $status = 0 ] || echo "== $name: failed" >&2
exit $status
