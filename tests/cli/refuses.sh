#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# refuses.sh CODE PATTERN COMMAND…: the command says nothing but one line, "sluice: " and what the extended regular expression
# PATTERN finds, on standard error, and ends with CODE.
set -uo pipefail
code=$1 pattern=$2
shift 2
out=$(mktemp)
trap 'rm -f "$out"' EXIT
err=$("$@" 2>&1 >"$out" </dev/null)
got=$?
echo "exit code $got: $err"
wrong=0
complain() { echo "$1" && wrong=1; }
[ "$got" = "$code" ] || complain "the exit code is not $code"
[ "$(wc -l <<<"$err")" = 1 ] || complain "that is not one line"
[[ $err == "sluice: "* ]] || complain "it does not begin with sluice:"
grep -qE -- "$pattern" <<<"$err" || complain "it does not say: $pattern"
[ ! -s "$out" ] || complain "standard output: $(head -c 500 "$out")"
exit $wrong
