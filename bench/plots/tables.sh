#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tables.sh: measures all that a page of docs/results tells of `sluice bench NAME`, one file of rows a table, and refreshes the tables
# of the page. Needs a machine with nothing else to do, and root where a bed is limited or a cluster.
#
#     tables.sh NAME FOLDER [TABLE…]    NAME: redistribute, alltoall, transpose, ft, flood or registration. FOLDER: for the rows. TABLE:
#                                       some of those below, or all
#     tables.sh NAME FOLDER none        refreshes from the rows that are there
#
# `transpose`, and `peers` of `redistribute`, are programs with a peer: make build PEERS=ON.
set -euo pipefail
cd "$(dirname "$0")/../.."
name=$1
folder=$2
shift 2
mkdir -p "$folder"
case $name in
redistribute) all="openmpi mpich strategies ranks peers wire launches" ;;
alltoall) all="openmpi mpich" ;;
transpose) all="node wire" ;;
ft) all="pairs limits tasks two_nodes" ;;
flood) all="small large two two_small ping_pong mpich cluster cluster_small idle long kernel" ;;
registration) all="counting mlock io_uring own_pace rdma" ;;
*)
    echo "tables.sh: there are redistribute, alltoall, transpose, ft, flood and registration" >&2
    exit 2
    ;;
esac
read -r -a tables <<<"${*:-$all}"
code=0
mpich_ranks=2 # that spin: no more than processors
floods=many_to_one,turns,computes,bcast,reduce,gather
moves=next,next20,hotspot,transpose,random,skewed
hand_written=token,token_shared,auto,alltoallv_warm,alltoallv_lean
wire_floods=many_to_one,computes,bcast,reduce

rows() { # file, command…
    local file=$folder/$1.jsonl
    shift
    echo "$*" >&2
    "$@" >"$file.part" || {
        code=$?
        echo "tables.sh: that ended with code $code" >&2
    }
    mv "$file.part" "$file"
}

bench() { # file, options…
    rows "$1" build/bin/sluice bench "$name" --json "${@:2}"
}

# 64 MiB a rank, FFTW's two ways to plan.
transposes() { # ranks, options…
    local rigor
    for rigor in estimate measure; do
        "${launcher[@]}" -n "$1" "${program[@]}" build/openmpi/bin/sluice-bench-transpose-fftw --extents "256,256,$((64 * $1))" \
            --pairs 15 --rigor $rigor "${@:2}"
    done
}

transposes_in_a_node() {
    local ranks
    launcher=(env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun.openmpi --oversubscribe) program=()
    for ranks in 2 4 8; do transposes $ranks; done
}

transposes_on_a_wire() {
    local ranks
    launcher=(bench/beds/cluster --mpi openmpi --rate 1000) program=(--)
    for ranks in 2 4; do transposes $ranks --bed cluster --rate 1000; done
    SLUICE_STAGING=8MiB transposes 4 --bed cluster --rate 1000
}

ft_of_both() { # options…
    build/bin/sluice bench ft --json --mpi openmpi "$@"
    build/bin/sluice bench ft --json --mpi mpich --ranks "$mpich_ranks" "$@"
}

# Memory is ample: launches of the forms in turn, by class.
ft_pairs() {
    local class
    for class in S W A; do
        ft_of_both --case $class --node-mib 0 --form plain,in_place,out_of_place,streamed --pairs 7
    done
}

# A kernel of the NAS Parallel Benchmarks in which nothing floods.
flood_kernel() {
    SLUICE_FLOOD=on build/bin/sluice bench ft --json --mpi openmpi --ranks 2,4 --case W --node-mib 0 --form plain,plain_run --pairs 15
    SLUICE_FLOOD=on build/bin/sluice bench ft --json --mpi openmpi --ranks 2,4 --case A --node-mib 0 --form plain,plain_run --pairs 9
}

for one in "${tables[@]}"; do
    case $name/$one in
    */none) ;;
    redistribute/openmpi)
        bench openmpi --minutes 0 --mpi openmpi --ranks 2,4,8 --case "$moves" --block 64,1024,16000,1048576 --pairs 7 \
            --method "$hand_written,alltoallv_cold,copy_limit"
        ;;
    redistribute/mpich)
        bench mpich --minutes 0 --mpi mpich --ranks "$mpich_ranks" --case "$moves" --block 64,1024,16000,1048576 --pairs 7 \
            --method "$hand_written,alltoallv_cold,copy_limit"
        ;;
    redistribute/strategies)
        bench strategies --minutes 0 --mpi openmpi --ranks 4 --case "$moves" --block 1024,16000 --mib 20 --pairs 3 \
            --method token,auto,parking,cyclic,alltoallv,alltoallv_warm,alltoallv_lean
        ;;
    redistribute/ranks)
        bench ranks --minutes 0 --mpi openmpi --ranks 16,48 --case random --block 64,1024,16000 --mib 5 --pairs 3 \
            --method token,alltoallv_warm,alltoallv_lean
        ;;
    redistribute/peers)
        bench peers --minutes 0 --mpi openmpi --ranks 4 --case random,rebalance --block 16000 --mib 40 --pairs 3 \
            --method "$hand_written,alltoallv_cold,alltoallv,zoltan_migrate,petsc_sf,p4est_transfer"
        ;;
    redistribute/wire)
        bench wire --minutes 0 --mpi openmpi --bed cluster --ranks 2,4 --case random,next --block 1024,16000,1048576 --pairs 3 \
            --method token,alltoallv_warm,alltoallv_lean
        ;;
    redistribute/launches) bench launches --minutes 0 --mpi openmpi --launches 40 ;;
    alltoall/openmpi) bench openmpi --minutes 0 --pairs 25 --mpi openmpi ;;
    alltoall/mpich) bench mpich --minutes 0 --pairs 25 --mpi mpich --ranks "$mpich_ranks" ;;
    transpose/node) rows node transposes_in_a_node ;;
    transpose/wire) rows wire transposes_on_a_wire ;;
    ft/pairs) rows pairs ft_pairs ;;
    ft/limits) rows limits ft_of_both --tasks 8 ;;
    ft/tasks) rows tasks ft_of_both --form tasks_normal,tasks --tasks 2,4,8,16,32 --node-mib 400 ;;
    ft/two_nodes) bench two_nodes --mpi openmpi --tasks 8 --nodes 2 --node-mib 0,200,150,130,110,95 ;;
    # A flood of 8 MiB in large messages is over in milliseconds, one of 64 MiB in small ones takes gigabytes.
    flood/small) bench small --minutes 0 --mpi openmpi --case "$floods" --bytes 64 ;;
    flood/large) bench large --minutes 0 --mpi openmpi --case "$floods" --bytes 1024,4000,16384 --mib 64 ;;
    # A processor for each rank.
    flood/two) bench two --minutes 0 --mpi openmpi --ranks 2 --case "$floods" --bytes 1024,4000,16384 --mib 64 ;;
    flood/two_small) bench two_small --minutes 0 --mpi openmpi --ranks 2 --case "$floods" --bytes 64 ;;
    # More ranks than these two would wait for the end on their processors.
    flood/ping_pong) bench ping_pong --minutes 0 --mpi openmpi --ranks 2 --case ping_pong --bytes 64,1024,4000,16384 --mib 64 ;;
    flood/mpich) bench mpich --minutes 0 --mpi mpich --ranks "$mpich_ranks" --case "$floods,ping_pong" --mib 64 ;;
    # Jobs of MPICH over these wires now and then never end. Ranks on the bed spin: no more than processors.
    flood/cluster) bench cluster --minutes 0 --mpi openmpi --bed cluster --ranks 2 --case "$wire_floods" --bytes 1024,4000 --mib 64 ;;
    flood/cluster_small) bench cluster_small --minutes 0 --mpi openmpi --bed cluster --ranks 2 --case "$wire_floods" --bytes 64 ;;
    flood/idle) bench idle --minutes 0 --bed local --ranks 2 --case idle --bytes 64 ;;
    flood/long) bench long --minutes 0 --mpi openmpi --case many_to_one --bytes 1024 --seconds 10 --pairs 1 ;;
    flood/kernel) rows kernel flood_kernel ;;
    registration/counting) bench counting ;;
    registration/mlock) bench mlock --registrar mlock ;;
    registration/io_uring) bench io_uring --registrar io_uring ;;
    registration/own_pace) bench own_pace --registrar mlock --case lu,cg,is --seconds 10000 --pairs 1 ;;
    registration/rdma) rows rdma bench/beds/rdma_table --json ;;
    *)
        echo "tables.sh: no table of $name is called '$one'; known are $all" >&2
        exit 2
        ;;
    esac
done

/usr/bin/python3 bench/plots/tables.py "$name" "$folder" "docs/results/$name.md"
exit "$code"
