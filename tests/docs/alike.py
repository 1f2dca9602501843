#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs two programs with each number of ranks; they must print the same lines: alike.py LAUNCHER FIRST SECOND RANKS…"""
import shlex
import subprocess
import sys

launcher, first, second = sys.argv[1:4]
for ranks in map(int, sys.argv[4:]):
    printed = []
    for program in (first, second):
        ended = subprocess.run(shlex.split(launcher) + ["-n", str(ranks), program], stdout=subprocess.PIPE, text=True, check=True)
        printed.append(sorted(ended.stdout.splitlines()))
    if printed[0] != printed[1] or len(printed[0]) != ranks:
        print(f"FAILED with {ranks} ranks: {printed[0]} and {printed[1]}")
        sys.exit(1)
    print(f"alike with {ranks} ranks")
