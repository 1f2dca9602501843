#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# examples.sh BUILD: builds each installed example as a project of its own against the tree in $SLUICE_TEST_PREFIX, in the
# folder BUILD, and runs the programs that need no data.
set -euo pipefail
build=$1
rm -rf "$build"
mkdir -p "$build"
examples=$(find "$SLUICE_TEST_PREFIX" -type d -path '*/doc/*/examples')
cp -r "$examples" "$build/copy" # the installed tree may be read-only
for project in "$build"/copy/*/CMakeLists.txt; do
    name=$(basename "$(dirname "$project")")
    cmake -S "$(dirname "$project")" -B "$build/$name" -DCMAKE_PREFIX_PATH="$SLUICE_TEST_PREFIX" \
        -DMPI_CXX_COMPILER="$MPICXX" -DMPI_C_COMPILER="$MPICC" -DCMAKE_BUILD_TYPE=Debug
    cmake --build "$build/$name" --parallel 2
done
for program in hello/hello hello/hello_c hello/neighbours_c; do
    linked=$(ldd "$build/$program" | sed -nE 's/.*libsluice[^ ]* => ([^ ]*) .*/\1/p')
    case $(realpath "$linked") in
    "$(realpath "$SLUICE_TEST_PREFIX")"/*) ;;
    *) echo "$program is linked to $linked" >&2 && exit 1 ;;
    esac
    $SLUICE_TEST_LAUNCHER "$build/$program"
done
$SLUICE_TEST_LAUNCHER "$build/jacobi3d/jacobi3d" check 3 2 8 13
$SLUICE_TEST_LAUNCHER "$build/particles/particles" 20000 20
$SLUICE_TEST_LAUNCHER "$build/fft3d/fft3d" S
