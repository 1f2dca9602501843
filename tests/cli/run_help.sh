#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# run_help.sh SLUICE: the help of `sluice run` is in order, has every setting once with its default, and fits 100 columns.
set -uo pipefail
help=$("$1" run --help) || exit 1
wrong=0
complain() { echo "$1" && wrong=1; }
[ "$(head -1 <<<"$help")" = "Usage: mpirun -n 4 sluice run [OPTIONS] [--] program [arguments…]" ] || complain "the usage is wrong"
grep -q "On by default: watching" <<<"$help" || complain "what is on by default is not said"
wide=$(LC_ALL=C.UTF-8 awk 'length > 100' <<<"$help")
[ -z "$wide" ] || complain "wider than 100 columns: $wide"
begin=$(grep -oE "^  (--[a-z-]+|-h)" <<<"$help" | head -8 | tr -d ' \n')
[ "$begin" = "--report--memory--watch--quiet--inplace--overlap--flood-h" ] || complain "what users meet does not come first: $begin"
# The settings as they are listed elsewhere.
flat=$(tr -s ' \n' ' ' <<<"$help")
while read -r name default; do
    [ "$(grep -cE "^  --$name " <<<"$help")" = 1 ] || complain "--$name is not there once"
    [ -z "$default" ] || grep -qE -- "--$name [A-Z]+ [^(]*(\([^(]*\)[^(]*)*\(default $default\)" <<<"$flat" ||
        complain "--$name does not say its default $default"
done < <("$1" info --json | python3 -c '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    if row["info"] == "setting" and row["name"] != "node_memory":
        print(row["name"].replace("_", "-"), row["default"])')
[ "$(grep -cE "^  --" <<<"$help")" -ge 13 ] || complain "settings are missing"
[ $wrong = 0 ] || echo "$help"
exit $wrong
