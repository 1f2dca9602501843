#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_with_spin.sh ends|fails MODEL [-Dname=value…]: searches all runs of a Promela model, also for infinite ones where
# -DNP is among the definitions. "ends": no error, and the search was complete. "fails": an error must be found. Works in
# the current directory.
set -eu
expected=$1
model=$2
shift 2

folder=$(mktemp -d "$PWD/spin.XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cycles=
search=
case " $* " in *" -DNP "*) cycles=-DNP search=-l ;; esac
spin -a "$@" "$model"
# COLLAPSE and MEMLIM (MiB): states are stored compressed, and the search stops before it takes the machine's memory.
${CC:-cc} -O2 -w -DCOLLAPSE -DMEMLIM=3000 $cycles -o pan pan.c
./pan -m200000 $search >output 2>&1 || true
cat output

grep -q 'errors: ' output
if grep -qE 'Search not completed|max search depth too small|out of memory|reached -DMEMLIM' output && [ "$expected" = ends ]; then
    echo "the search is not complete"
    exit 1
fi
if [ "$expected" = ends ]; then
    grep -q 'errors: 0$' output
elif grep -q 'errors: 0$' output; then
    exit 1
fi
