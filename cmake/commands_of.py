#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""commands_of.py COMPILE_COMMANDS: for each file named on a line of standard input the command that only checks it, with a zero
byte behind it."""
import json
import shlex
import sys

with open(sys.argv[1], encoding="utf-8") as database:
    entries = {entry["file"]: entry for entry in json.load(database)}
for file in sys.stdin.read().split("\n"):
    if file:
        entry = entries[file]
        print(f"cd {shlex.quote(entry['directory'])} && {entry['command']} -fsyntax-only", end="\0")
