#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# consumer.sh cmake|pkgconfig SOURCE BUILD: builds the project SOURCE against the tree installed in $SLUICE_TEST_PREFIX with the
# compiler wrappers $MPICXX and $MPICC (pkgconfig: as the guide $SLUICE_TEST_GUIDE says), checks which library it was linked to, and runs it with $SLUICE_TEST_LAUNCHER.
set -euo pipefail
method=$1 source=$2 build=$3
rm -rf "$build"
mkdir -p "$build"

case $method in
cmake)
    cmake -S "$source" -B "$build" -DCMAKE_PREFIX_PATH="$SLUICE_TEST_PREFIX" \
        -DMPI_CXX_COMPILER="$MPICXX" -DMPI_C_COMPILER="$MPICC"
    cmake --build "$build" --verbose
    ;;
pkgconfig)
    # The lines of the guide, with another prefix, MPI, compiler and program.
    lines=$(sed -n '/^export PKG_CONFIG_PATH/,/^```$/{/^```$/!p}' "$SLUICE_TEST_GUIDE")
    [ "$(wc -l <<<"$lines")" = 2 ]
    lines=${lines//PREFIX\//$SLUICE_TEST_PREFIX/}
    lines=${lines//sluice-openmpi/sluice-$SLUICE_TEST_MPI}
    if [ -e "$source/consumer.c" ]; then
        lines=${lines//mpicxx -std=c++20 program.cpp/$MPICC consumer.c}
    else
        lines=${lines//mpicxx -std=c++20 program.cpp/$MPICXX -std=c++20 consumer.cpp}
    fi
    echo "$lines"
    (cd "$source" && unset PKG_CONFIG_PATH && eval "${lines//-o program/-o $build/consumer}")
    ;;
esac

linked=$(ldd "$build/consumer" | sed -nE 's/.*(libsluice[^ ]*) => ([^ ]*) .*/\2/p')
echo "linked: $linked"
case $(realpath "$linked") in
"$(realpath "$SLUICE_TEST_PREFIX")"/*/"libsluice-$SLUICE_TEST_MPI.so".*) ;;
*) echo "expected the installed libsluice-$SLUICE_TEST_MPI.so" >&2; exit 1 ;;
esac
$SLUICE_TEST_LAUNCHER "$build/consumer"
