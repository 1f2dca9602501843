#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage_test.sh BED…: each bed, called without a command, prints one line that shows how to call it, and ends with 2.
set -uo pipefail
failed=0
for bed in "$@"; do
    said=$("$bed" 2>&1 >/dev/null </dev/null)
    status=$?
    if [ $status != 2 ] || [[ $said != "$(basename "$bed") ["*"…]"* ]] || [ "$(wc -l <<<"$said")" != 1 ]; then
        echo "$bed ended with $status and printed: $said"
        failed=1
    fi
done
exit $failed
