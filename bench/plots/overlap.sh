#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Measures everything that docs/results/overlap.md tells of `sluice bench overlap`, one file of rows a table, and refreshes the
# tables and the picture there. Needs root for the wires; takes about 20 minutes on a machine with nothing else to do.
#
#     overlap.sh FOLDER [TABLE…]      FOLDER: for the rows. TABLE: some of those below; all without it
#     overlap.sh FOLDER none          refreshes from the rows that are there
#
# OPTIONS in the environment are further options of the benchmark.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$1
shift
mkdir -p "$folder"
all="wire1000 wire100 wire10000 local"
read -r -a tables <<<"${*:-$all}"
read -r -a options <<<"${OPTIONS:-}"
code=0

bench() { # file, options…
    local file=$folder/$1.jsonl
    shift
    echo "sluice bench overlap $*" >&2
    build/bin/sluice bench overlap --json --minutes 0 "$@" "${options[@]}" >"$file.part" || {
        code=$?
        echo "overlap.sh: that ended with code $code" >&2
    }
    mv "$file.part" "$file"
}

for name in "${tables[@]}"; do
    case $name in
    none) ;;
    wire1000) bench wire1000 --bed cluster --rate 1000 --bytes 65536,262144,524288,1048576,4194304,16777216 --pairs 7 ;;
    wire100) bench wire100 --bed cluster --rate 100 --bytes 65536,262144,1048576,4194304 --pairs 3 --warm-up 4 ;;
    wire10000) bench wire10000 --bed cluster --rate 10000 --pairs 15 ;;
    local) bench local --bed local --overlap on,auto,off --pairs 61 --latency 400 ;;
    *)
        echo "overlap.sh: no table is called '$name'; known are $all" >&2
        exit 2
        ;;
    esac
done

/usr/bin/python3 bench/plots/overlap.py "$folder" docs/results/overlap.md docs/images
exit "$code"
