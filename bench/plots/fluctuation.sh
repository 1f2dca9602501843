#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Measures everything that docs/results/fluctuation.md tells of `sluice bench fluctuation`, one file of rows a table, and refreshes
# the tables and the pictures there. Needs root for the beds; takes about half an hour on a quiet machine.
#
#     fluctuation.sh FOLDER [TABLE…]      FOLDER: for the rows. TABLE: some of those below; all without it
#     fluctuation.sh FOLDER none          refreshes from the rows that are there
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$1
shift
mkdir -p "$folder"
all="local edges limited13 limited7 noswap curves adaptation outofcore cluster1000 cluster100 limited_cluster policies simulated"
read -r -a tables <<<"${*:-$all}"

bench() { # file, options…
    local file=$folder/$1.jsonl
    shift
    echo "sluice bench fluctuation $*" >&2
    build/bin/sluice bench fluctuation --json --minutes 0 "$@" >"$file.part" || echo "fluctuation.sh: that ended with code $?" >&2
    mv "$file.part" "$file"
}

for name in "${tables[@]}"; do
    case $name in
    none) ;;
    local) bench local --bed local --case jacobi13,jacobi7,micro --pairs 7 ;;
    edges)
        for edge in 16 64; do
            bench edges-$edge --bed local --case jacobi13,jacobi7 --edge $edge --base 64 --pairs 7 \
                --method at_once,cube_by_cube,fetch,fetch:tokens=16,fetch:fetch_memory=1TiB
        done
        cat "$folder"/edges-{16,64}.jsonl >"$folder/edges.jsonl"
        ;;
    limited13) bench limited13 --bed limited --mpi openmpi --case jacobi13 ;;
    limited7)
        bench limited7 --bed limited --mpi openmpi --case jacobi7 --base 64,80,84,88,92 --method at_once,fetch,fetch:tokens=8 --limit 20
        ;;
    noswap) bench noswap --bed limited --mpi openmpi --case jacobi13 --swap 0 --base 80 --tokens 8 ;;
    curves)
        for node in 512 192; do
            bench curves-$node --bed limited --mpi openmpi --case jacobi13 --base 64,80 --method at_once,fetch:tokens=8 --steps 30 \
                --curves --node $node
        done
        ;;
    adaptation) bench adaptation --bed limited --mpi openmpi --case adaptation ;;
    outofcore) bench outofcore --bed limited --mpi openmpi --case outofcore ;;
    cluster1000) bench cluster1000 --bed cluster --mpi openmpi --case jacobi13,jacobi7 --tokens 8,16 ;;
    cluster100) bench cluster100 --bed cluster --mpi openmpi --case jacobi13 --rate 100 --base 8 --pairs 3 --steps 6 --tokens 8,16 ;;
    limited_cluster)
        bench limited_cluster --bed limited_cluster --mpi openmpi --case jacobi13 --base 64,72,80,88,96 \
            --method at_once,fetch,fetch:tokens=8,send --limit 20
        ;;
    policies)
        bench policies-local --bed local --mpi openmpi --case policies
        bench policies-cluster --bed cluster --mpi openmpi --case policies --base 16 --steps 6
        cat "$folder"/policies-{local,cluster}.jsonl >"$folder/policies.jsonl"
        ;;
    simulated) bench simulated --bed simulated --case jacobi13 --limit 300 --method at_once,fetch ;;
    *)
        echo "fluctuation.sh: no table is called '$name'; known are $all" >&2
        exit 2
        ;;
    esac
done

/usr/bin/python3 bench/plots/fluctuation_tables.py "$folder" docs/results/fluctuation.md
rows=()
for name in limited13 limited7 curves-512 curves-192; do
    [ ! -e "$folder/$name.jsonl" ] || rows+=("$folder/$name.jsonl")
done
[ ${#rows[@]} = 0 ] || /usr/bin/python3 bench/plots/fluctuation.py "${rows[@]}" docs/images
