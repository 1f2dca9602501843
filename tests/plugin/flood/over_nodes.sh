#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Flood control between two nodes: over_nodes.sh BED RANKS COUNTER RUN… -- PROGRAM ARGUMENT…
#
# The program has to end and may say nothing that is wrong; the report has to have COUNTER, if it is not empty.
set -euo pipefail
bed=$1 ranks=$2 counter=$3
shift 3
run=()
while [ "$1" != -- ]; do
    run+=("$1")
    shift
done
shift
# shellcheck source=../nodes/cluster_bed.sh
source "${BASH_SOURCE%/*}/../nodes/cluster_bed.sh"

on_bed "$bed" "$ranks" "${run[@]}" --report "$folder/report" --flood on --flood-hold 60000 "$@"
[ "$code" = 0 ] || fail "the job failed"
! grep -q 'watching only' "$folder/errors" || fail "some rank took no part"
! grep -qE 'were expected|[1-9][0-9]* wrong' "$folder/out" || fail "something is wrong"
[ -z "$counter" ] || grep -q "\"$counter\"" "$folder/report/report.json" || fail "no $counter"
