#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# completion.sh SLUICE COMPLETION: what bash offers behind a beginning of a command line.
set -uo pipefail
export SLUICE_CONFIG=
PATH=$(dirname "$1"):$PATH
# shellcheck source=packaging/completion.bash
. "$2"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" && mkdir reports && touch program || exit 1
wrong=0

# offers "expected words" WORDS… : the last word is the one that is being typed
offers() {
    local expected=$1
    shift
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _sluice
    local offered
    offered=$(printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd ' ')
    [ "$offered" = "$expected" ] && return
    echo "behind '$*' come '$offered', not '$expected'"
    wrong=1
}

offers 'report run' sluice r
offers 'fluctuation' sluice bench flu
offers '--inplace --inplace-staging' sluice run --inp
offers '--probe --probe-most --probe-seconds' sluice info --probe
offers 'off on' sluice run --watch ''
offers 'alltoallv auto' sluice run --strategy a
offers 'parking' sluice run --strategy = pa
offers 'alltoallv auto cyclic parking token' sluice info --strategy = =
offers 'reports' sluice run --report ''
offers 'program' sluice report --html pro
offers 'dragonfly' sluice bench madre --platform d
offers '--inplace --inplace-staging' sluice run --report reports --watch=off --inp
offers '--json' sluice memory --runs 3 --j
offers 'program' sluice run --watch off prog
offers 'reports' sluice report rep
exit $wrong
