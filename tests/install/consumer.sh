#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# consumer.sh cmake|pkgconfig SOURCE BUILD: builds the project SOURCE against the tree installed in $SLUICE_TEST_PREFIX with the
# compiler wrappers $MPICXX and $MPICC, checks which library it was linked to, and runs it with $SLUICE_TEST_LAUNCHER.
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
    PKG_CONFIG_PATH=$(dirname "$(find "$SLUICE_TEST_PREFIX" -name "sluice-$SLUICE_TEST_MPI.pc")")
    export PKG_CONFIG_PATH
    read -ra flags < <(pkg-config --cflags --libs "sluice-$SLUICE_TEST_MPI")
    if [ -e "$source/consumer.c" ]; then
        "$MPICC" "$source/consumer.c" -o "$build/consumer" "${flags[@]}"
    else
        "$MPICXX" -std=c++20 "$source/consumer.cpp" -o "$build/consumer" "${flags[@]}"
    fi
    ;;
esac

linked=$(ldd "$build/consumer" | sed -nE 's/.*(libsluice[^ ]*) => ([^ ]*) .*/\2/p')
echo "linked: $linked"
case $(realpath "$linked") in
"$(realpath "$SLUICE_TEST_PREFIX")"/*/"libsluice-$SLUICE_TEST_MPI.so".*) ;;
*) echo "expected the installed libsluice-$SLUICE_TEST_MPI.so" >&2; exit 1 ;;
esac
$SLUICE_TEST_LAUNCHER "$build/consumer"
