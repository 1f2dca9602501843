#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# subproject.sh SLUICE BUILD [OPTION…]: configures and builds a project that takes Sluice's source tree into its own build, looks
# at its tests, output folders and install rules, and runs its program with $SLUICE_TEST_LAUNCHER. The compiler is started
# through $SLUICE_TEST_COMPILER_LAUNCHER, a list separated by |.
set -euo pipefail
sluice=$1 build=$2
shift 2
rm -rf "$build"
fail() {
    echo "$1" >&2
    exit 1
}

# A build type without flags of its own: the files compile quickly, and a type forced by Sluice would show.
cmake -S "$sluice/tests/install/subproject" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Consumers -DSLUICE_SOURCE="$sluice" \
    -DMPI_CXX_COMPILER="$MPICXX" -DMPI_C_COMPILER="$MPICC" -DCMAKE_CXX_COMPILER_LAUNCHER="${SLUICE_TEST_COMPILER_LAUNCHER//|/;}" "$@"
grep -qx 'CMAKE_BUILD_TYPE:[A-Z]*=Consumers' "$build/CMakeCache.txt" || fail "the build type has changed"
[ ! -e "$build/compile_commands.json" ] || fail "compile_commands.json was written for a project that did not ask for it"
tests=$(ctest --test-dir "$build" --show-only | sed -nE 's/^ *Test +#[0-9]+: //p')
[ "$tests" = own ] || fail "the tests are not the project's own: $tests"

cmake --build "$build"
[ -x "$build/consumer" ] || fail "the project's program is not in its own folder"
[ ! -e "$build/bin" ] && [ ! -e "$build/lib" ] || fail "Sluice made folders of its own in the project's build folder"
ctest --test-dir "$build" --output-on-failure
cmake --install "$build" --prefix "$build/installed"
[ -z "$(find "$build/installed" -type f 2>/dev/null)" ] || fail "the project installs what is not its own"
$SLUICE_TEST_LAUNCHER "$build/consumer"
