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
# SAFETY: without what only a search for infinite runs needs.
kind=-DSAFETY
search=
case " $* " in *" -DNP "*) kind=-DNP search=-l ;; esac
spin -a "$@" "$model"
# Most searches take less time than an optimized compilation of them. A search stops before it takes the machine's memory.
# States are stored as they are: compressed (COLLAPSE) the largest search takes 2.4 GB instead of 3.9, and 1.7 times as long.
${CC:-cc} -O1 -w -DMEMLIM=6000 $kind -o pan pan.c
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
