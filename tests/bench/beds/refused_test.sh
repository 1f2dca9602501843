#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# refused_test.sh CLUSTER SLURM: as root without the capability to make namespaces, as in a container, these beds end with 3 and
# say so; their tests are skipped then.
set -uo pipefail
skip() { echo "skipped: $1" && exit 0; }
[ "$(id -u)" = 0 ] || skip "needs root, which a container takes the capability from"
command -v slurmctld >/dev/null || skip "slurmctld is missing (Debian: slurm-wlm)"
setpriv --bounding-set -sys_admin --inh-caps -all true 2>/dev/null || skip "no capability can be given up here"
failed=0
for capability in sys_admin net_admin; do
    for call in "$1 -n 2 -- true" "$2 -- true"; do
        # shellcheck disable=SC2086
        said=$(setpriv --bounding-set "-$capability" --inh-caps -all $call 2>&1)
        status=$?
        if [ $status != 3 ] || [[ $said != *" bed: no namespaces can be made here"* ]]; then
            echo "$call without $capability ended with $status and printed: $said"
            failed=1
        fi
    done
done
exit $failed
