#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A program of a page says on standard error what the page shows below it: says.py PAGE NUMBER LAUNCHER PROGRAM RANKS…

NUMBER counts the whole programs of the page from 1. "…" of the page stands for one word.
"""
import pathlib
import re
import shlex
import sys

import watched

page, number, launcher, program = sys.argv[1:5]
blocks = re.findall(r"^```c\+?\+?p?p?\n(.*?)^```\n\n```text\n(.*?)^```", pathlib.Path(page).read_text(), re.MULTILINE | re.DOTALL)
shown = [message for code, message in blocks if re.search(r"^int main\(", code, re.MULTILINE)][int(number) - 1]
wanted = r"\S+".join(re.escape(part) for part in " ".join(shown.split()).split("…"))
for ranks in map(int, sys.argv[5:]):
    ended = watched.run([*shlex.split(launcher), "-n", str(ranks), program], capture_output=True, text=True)
    if ended.returncode != 0:
        sys.exit(f"FAILED with {ranks} ranks: it ended with {ended.returncode}:\n{ended.stderr}")
    said = len(re.findall(wanted, " ".join(ended.stderr.split())))
    if said != ranks:
        sys.exit(f"FAILED with {ranks} ranks: {said} times\n{wanted}\nin\n{ended.stderr}")
    print(f"said by each of {ranks} ranks")
