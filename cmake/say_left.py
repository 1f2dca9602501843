#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""say_left.py LABELS: the tests in the current folder whose labels match the regular expression, one line for the tests of
one subject: their names without the number of ranks, and these numbers."""

import collections
import json
import subprocess
import sys
import textwrap

shown = subprocess.run(["ctest", "--show-only=json-v1", "--label-regex", sys.argv[1]], capture_output=True, text=True,
                       check=True).stdout
ranks = collections.defaultdict(list)
for test in json.loads(shown)["tests"]:
    name, _, last = test["name"].rpartition("/")
    if last.isdigit():
        ranks[name].append(last)
    else:
        ranks[test["name"]] = []
# Tests that are left out at the same numbers of ranks share a line.
names = collections.defaultdict(list)
for name, numbers in ranks.items():
    names[", ".join(numbers)].append(name)
for numbers, alike in names.items():
    what = "  at %s rank%s: " % (numbers, "" if numbers == "1" else "s") if numbers else "  "
    print(textwrap.fill(what + " ".join(alike), 118, subsequent_indent="    ", break_on_hyphens=False,
                        break_long_words=False))
