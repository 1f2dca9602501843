#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tables.sh: measures all that a page of docs/results tells of `sluice bench NAME`, one file of rows a table, and refreshes the tables
# of the page. Needs a machine with nothing else to do, and root where a bed is limited or a cluster.
#
#     tables.sh alltoall|ft|flood|registration FOLDER [TABLE…]      FOLDER: for the rows. TABLE: some of those below; all without it
#     tables.sh NAME FOLDER none                                    refreshes from the rows that are there
set -euo pipefail
cd "$(dirname "$0")/../.."
name=$1
folder=$2
shift 2
mkdir -p "$folder"
case $name in
alltoall) all="alltoall" ;;
ft) all="limits two_nodes tasks" ;;
flood) all="local mpich cluster idle long" ;;
registration) all="counting mlock io_uring" ;;
*)
    echo "tables.sh: there are alltoall, ft, flood and registration" >&2
    exit 2
    ;;
esac
read -r -a tables <<<"${*:-$all}"
code=0

bench() { # file, options…
    local file=$folder/$1.jsonl
    shift
    echo "sluice bench $name $*" >&2
    build/bin/sluice bench "$name" --json "$@" >"$file.part" || {
        code=$?
        echo "tables.sh: that ended with code $code" >&2
    }
    mv "$file.part" "$file"
}

for one in "${tables[@]}"; do
    case $name/$one in
    */none) ;;
    alltoall/alltoall) bench alltoall --minutes 0 ;;
    ft/limits) bench limits --tasks 8 ;;
    ft/two_nodes) bench two_nodes --tasks 8 --nodes 2 ;;
    ft/tasks) bench tasks --form tasks_normal,tasks --tasks 2,4,8,16,32 --node-mib 400 ;;
    flood/local) bench local --minutes 0 --mpi openmpi ;;
    # Ranks of MPICH spin: no more than processors.
    flood/mpich) bench mpich --minutes 0 --mpi mpich --ranks 2 --mib 64 --case many_to_one,computes,bcast,reduce,gather,ping_pong ;;
    flood/cluster) bench cluster --minutes 0 --bed cluster --case many_to_one,computes,bcast,reduce,ping_pong --bytes 64,1024,4000 ;;
    flood/idle) bench idle --minutes 0 --bed local --case idle --bytes 64 ;;
    flood/long) bench long --minutes 0 --case many_to_one --bytes 1024 --seconds 10 ;;
    registration/counting) bench counting ;;
    registration/mlock) bench mlock --registrar mlock ;;
    registration/io_uring) bench io_uring --registrar io_uring ;;
    *)
        echo "tables.sh: no table of $name is called '$one'; known are $all" >&2
        exit 2
        ;;
    esac
done

/usr/bin/python3 bench/plots/tables.py "$name" "$folder" "docs/results/$name.md"
exit "$code"
