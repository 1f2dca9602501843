#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs over several nodes: nodes_test.sh CASE BED PROGRAM SLUICE RUN…
#
# The nodes of the cluster bed have host names of their own, so each has a record file of its own, and ranks can only tell
# each other through the start of the MPI. Ranks 0 and 1 are on the first of two nodes where there are four.
set -euo pipefail
how=$1 bed=$2 program=$3
shift 3
# shellcheck source=cluster_bed.sh
source "${BASH_SOURCE%/*}/cluster_bed.sh"

# The ranks named first run without Sluice; VARIABLE=VALUE, if given, is set for rank 0 alone.
cat >"$folder/start" <<'START'
#!/bin/bash
plain=$1 setting=$2
shift 2
if [ "$OMPI_COMM_WORLD_RANK" = 0 ] && [ -n "$setting" ]; then export "${setting?}"; fi
if [[ " $plain " == *" $OMPI_COMM_WORLD_RANK "* ]]; then exec "${@: -1}"; fi
exec "$@"
START
chmod +x "$folder/start"

ranks=4 plain='' setting='' all=no
case $how in
two) all=yes ranks=2 ;;
four) all=yes ;;
second_node_plain) plain="2 3" ;;
first_node_plain) plain="0 1" ;;
one_plain) plain=1 ;;
last_plain) plain=1 ranks=2 ;;
# Fences that need not tell all ranks the same, as a user may choose. (Open MPI 4.1.4 by itself fails now and then with
# pmix_base_async_modex on all ranks.)
uncollected) export OMPI_MCA_pmix_base_collect_data=0 ;;
one_unsure) setting=OMPI_MCA_pmix_base_async_modex=disabled ;;
# Without its shared memory PMIx asks its server for each key.
hashed) all=yes && export PMIX_MCA_gds=hash ;;
*) echo "which case is $how?" && exit 2 ;;
esac

on_bed "$bed" "$ranks" "$folder/start" "$plain" "$setting" "$@" --report "$folder/report" "$program"
[ "$code" = 0 ] || fail "the job failed"
grep -q "^$ranks ranks, 0 numbers wrong$" "$folder/out" || fail "the program did not come to its end"
if [ "$all" = yes ]; then
    # Each rank makes 3 calls.
    grep -q "served $((3 * ranks)) in-place all-to-alls" "$folder/errors" || fail "not all calls were served"
    [ "$(grep -c 'Sluice report · ' "$folder/errors")" = 1 ] || fail "not one report"
    ! grep -q 'watching only' "$folder/errors" || fail "some rank thought otherwise"
    [ "$(find "$folder/report" -name 'node-*.sluice' | wc -l)" = 2 ] || fail "not a file of records for each node"
else
    ! grep -q 'served' "$folder/errors" || fail "something was served"
    [ "$(grep -c 'watching only' "$folder/errors")" = 1 ] || fail "not one rank said why there is no report"
fi
