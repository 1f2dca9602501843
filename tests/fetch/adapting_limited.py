#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fetches with all the memory that is free in a node of 192 MiB, two ranks, while another process takes a third of the
node and frees it again: no rank is killed, no page of a rank is swapped out, and the limit follows.

    adapting_limited.py BED PROGRAM LAUNCHER...
"""
import json
import os
import subprocess
import sys
import tempfile

import watched

bed, program, *launcher = sys.argv[1:]

with tempfile.TemporaryDirectory() as folder:
    report = os.path.join(folder, "report.json")
    # There is swap, so pages that are pushed out come back as major faults.
    command = [bed, "--memory", "192MiB", "--swap", "256MiB", "--report", report, "--"]
    done = watched.run(command + launcher + [program, "64"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(done.stdout, end="")
    if not os.path.exists(report):
        print("skipped: no swap file and control group can be made here (needs root)")
        sys.exit(0)
    with open(report, encoding="utf-8") as file:
        outcome = json.load(file)
if "control group" not in outcome["limit"]:
    print("skipped: no memory control group can be made here (needs root)")
    sys.exit(0)
sys.exit(0 if outcome["outcome"] == "ok" else 1)
