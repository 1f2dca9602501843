#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ctest_again.sh [CTEST ARGUMENT…]: runs ctest in the current folder and, if at most three tests fail, these again, alone and
# up to two times. Exit code 0 if each test has passed at last. Leaves ctest.xml and ctest.log of the first run,
# failed_first/ with the first output of each test that failed, and ctest.summary: what was run again, and then, as the
# last lines, ctest's own summary.
set -uo pipefail
most_again=3
cmake=$(dirname "$(realpath "$0")")
failed=Testing/Temporary/LastTestsFailed.log
begin='/^[0-9]+% tests passed, /'

rm -rf "$failed" failed_first ctest.summary
status=0
ctest "$@" --output-junit ctest.xml | tee ctest.log | sed -uE "$begin,\$d" || status=$?
sed -nE "$begin,\$p" ctest.log >ctest.summary
if [ $status != 8 ] || [ ! -s $failed ]; then # ctest's code for tests that failed
    exit $status
fi

"$cmake/keep_failures.py" ctest.xml $failed failed_first
count=$(wc -l <$failed)
if [ "$count" -gt $most_again ]; then
    echo "$count tests failed, too many to run them again"
    exit $status
fi
sed -E 's/^[0-9]+://' $failed >failed_first/names
echo "$count tests failed and are run again"
status=0
ctest --rerun-failed --repeat until-pass:2 -j 1 --output-on-failure --test-output-truncation head | tee ctest_again.log |
    sed -uE "$begin,\$d" || status=$?
{
    sed 's/^/In the first run: /' <(sed -nE "1p" ctest.summary)
    if [ $status = 0 ]; then
        while read -r name; do
            echo "passed only when run again: $name (first output: $PWD/failed_first/${name//\//-}.txt)"
        done <failed_first/names
        echo "Of the tests that were run again:"
    fi
    sed -nE "$begin,\$p" ctest_again.log
} >ctest.summary.new
mv ctest.summary.new ctest.summary
exit $status
