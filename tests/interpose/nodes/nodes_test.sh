#!/bin/bash
# Jobs over several nodes: nodes_test.sh CASE BED PROGRAM SLUICE RUN…
#
# The nodes of the cluster bed have host names of their own, so each has a record file of its own, and ranks can only tell
# each other through the start of the MPI. Ranks 0 and 1 are on the first of two nodes where there are four.
set -euo pipefail
how=$1 bed=$2 program=$3
shift 3
ours=("$@" "$program") theirs=("$program")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder # where no parameters of the user's are

all=yes ranks=4 plain_rank_0=
case $how in
two) ranks=2 parts=(-n 2 -- "$@" --report "$folder/report" "$program") ;;
four) parts=(-n 4 -- "$@" --report "$folder/report" "$program") ;;
second_node_plain) all=no parts=(-n 2 -- "${ours[@]}" : -n 2 "${theirs[@]}") ;;
first_node_plain) all=no plain_rank_0=yes parts=(-n 2 -- "${theirs[@]}" : -n 2 "${ours[@]}") ;;
one_plain) all=no parts=(-n 1 -- "${ours[@]}" : -n 1 "${theirs[@]}" : -n 2 "${ours[@]}") ;;
last_plain) all=no ranks=2 parts=(-n 1 -- "${ours[@]}" : -n 1 "${theirs[@]}") ;;
# Fences that need not tell all ranks the same, as a user may want them: on one node's ranks only, too.
async) all=no parts=(-n 4 -- env OMPI_MCA_pmix_base_async_modex=1 "${ours[@]}") ;;
uncollected) all=no parts=(-n 4 -- env OMPI_MCA_pmix_base_collect_data=0 "${ours[@]}") ;;
async_node) all=no parts=(-n 2 -- "${ours[@]}" : -n 2 env OMPI_MCA_pmix_base_async_modex=1 "${ours[@]}") ;;
# Without its shared memory PMIx asks its server for each key.
hashed) export PMIX_MCA_gds=hash && parts=(-n 4 -- env PMIX_MCA_gds=hash "${ours[@]}") ;;
*) echo "which case is $how?" && exit 2 ;;
esac

code=0
timeout 60 "$bed" "${parts[@]}" >"$folder/out" 2>"$folder/errors" || code=$?
if [ "$code" = 3 ] && grep -q '^cluster bed: ' "$folder/errors"; then
    echo "skipped: $(grep -m 1 '^cluster bed: ' "$folder/errors")"
    exit 0
fi
fail() {
    echo "$1 (exit code $code)"
    cat "$folder/out" "$folder/errors"
    exit 1
}
[ "$code" = 0 ] || fail "the job failed"
grep -q "^$ranks ranks, 0 numbers wrong$" "$folder/out" || fail "the program did not come to its end"
if [ "$all" = yes ]; then
    # 3 calls of each rank.
    grep -q "served $((3 * ranks)) in-place all-to-alls" "$folder/errors" || fail "not all calls were served"
    [ "$(grep -c 'Sluice report · ' "$folder/errors")" = 1 ] || fail "not one report"
    ! grep -q 'watching only' "$folder/errors" || fail "some rank thought otherwise"
    [ ! -d "$folder/report" ] || [ "$(find "$folder/report" -name 'node-*.sluice' | wc -l)" = 2 ] || fail "not one file of records for each node"
else
    ! grep -q 'served' "$folder/errors" || fail "something was served"
    [ -n "$plain_rank_0" ] || grep -q 'watching only' "$folder/errors" || fail "nobody said why there is no report"
fi
