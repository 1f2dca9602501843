#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""commands_of.py COMPILE_COMMANDS OPTION: for each file named on a line of standard input its command with another option, with a
zero byte behind it: -fsyntax-only checks the file, -M lists what it includes."""
import json
import shlex
import sys

with open(sys.argv[1], encoding="utf-8") as database:
    entries = {entry["file"]: entry for entry in json.load(database)}
for file in sys.stdin.read().split("\n"):
    if file:
        entry = entries[file]
        print(f"cd {shlex.quote(entry['directory'])} && {entry['command']} {sys.argv[2]}", end="\0")
