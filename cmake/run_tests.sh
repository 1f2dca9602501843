#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# run_tests.sh quick|all FOLDER…: one run of ctest over build folders that stand side by side. quick leaves out the
# tests labelled long or demo, and prints what it leaves to `make test-all`. A test that fails is run again (ctest_again.sh).
# Then come the times of the quick tests and ctest's own summary.
set -uo pipefail
how=$1
shift
cd "$(dirname "$0")/../build" || exit 1
for folder in "$@"; do echo "subdirs($folder)"; done >CTestTestfile.cmake
rm -rf installed # here the tests install the library
export SLUICE_CONFIG= # the settings file of the caller is not part of the tests
choice=()
[ "$how" = all ] || choice=(--label-exclude '^(long|demo)$')

status=0
cores=${JOBS:-$(nproc)}
slots=$((3 * cores)) # ctest counts thirds of a processor (SluiceTest.cmake)
# The beginning of long outputs is cut off, because the reason of a skip is at the end.
../cmake/ctest_again.sh -j "$slots" "${choice[@]}" --output-on-failure --no-tests=error \
    --test-output-truncation head || status=$?
../cmake/say_skipped.py ctest.xml
if [ "$how" != all ]; then
    echo "make test-all also runs all tests under the simulator and with sanitizers, and these:"
    ../cmake/say_left.py '^(long|demo)$'
    echo
fi
../cmake/say_times.py ctest.xml "$cores"
echo "== testing: $SECONDS s"
cat ctest.summary
exit $status
