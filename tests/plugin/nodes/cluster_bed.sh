# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# For tests by shell scripts: a job on the cluster bed. `folder` is a new one, which goes at the end of the script.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder # where no parameters of the user's are
code=0

# on_bed BED RANKS COMMAND…: sets `code`; what the job wrote is in $folder/out and $folder/errors. Without a bed the test is
# skipped.
on_bed() {
    local bed=$1 ranks=$2
    shift 2
    "$SLUICE_TEST_WATCHED" "$bed" -n "$ranks" -- "$@" >"$folder/out" 2>"$folder/errors" || code=$?
    if [ "$code" = 3 ] && grep -q '^cluster bed: ' "$folder/errors"; then
        echo "skipped: $(grep -m 1 '^cluster bed: ' "$folder/errors")"
        exit 0
    fi
}

fail() {
    echo "$1 (exit code $code)"
    cat "$folder/out" "$folder/errors"
    exit 1
}
