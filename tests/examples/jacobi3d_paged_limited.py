#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The relaxation with twice the points that its node has memory for. In memory it is killed, or swaps; from a file it
ends with the same checksum as in a large node, with hardly any major faults.

    jacobi3d_paged_limited.py BED PROGRAM LAUNCHER...
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import watched

bed, program, *launcher = sys.argv[1:]
MIB = 1 << 20
POINTS = 192 * MIB  # 8 x 8 x 6 cubes of 32^3 points, two arrays of doubles each
NODE = POINTS // 2
STEPS = 3


def run(form, limit, swap=0):
    """Returns the outcome of the bed, and the checksum if there is one. A run that swaps may take too long, and then
    has none.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        command = [bed, "--memory", f"{limit // MIB}MiB", "--report", report]
        command += ["--swap", f"{swap // MIB}MiB", "--timeout", "60"] if swap else []
        command += ["--"] + launcher + [program, form, str(STEPS), "8x8x6", "32", "13"]
        environment = dict(os.environ, SLUICE_FETCH_MEMORY="1MiB", SLUICE_SERVE_MEMORY="512KiB",
                           SLUICE_PAGED_MEMORY="8MiB", TMPDIR="/var/tmp")
        done = watched.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(done.stdout, end="")
        if not os.path.exists(report):
            return None, None
        with open(report, encoding="utf-8") as file:
            outcome = json.load(file)
    checksum = re.search(r"checksum (\w+)", done.stdout)
    return outcome, checksum and checksum.group(1)


large, right = run("fetch", 4 * POINTS)
if "control group" not in large["limit"]:
    print("skipped: no memory control group can be made here (needs root)")
    sys.exit(0)
failures = []
paged, checksum = run("paged", NODE)
if paged["outcome"] != "ok" or checksum != right or right is None:
    failures.append(f"from a file in {NODE // MIB} MiB: {paged['outcome']}, checksum {checksum}, right is {right}")
if paged["oom_kills"] != 0 or paged["peak_held_bytes"] > NODE:
    failures.append(f"{paged['oom_kills']} killed, held {paged['peak_held_bytes']} bytes of {NODE}")
# Pages of programs and libraries are read at the start, but none of points: these would be 49,152 pages in each step.
if paged["major_faults"] > 2000:
    failures.append(f"{paged['major_faults']} major faults from a file")
killed, _ = run("fetch", NODE)
if killed["outcome"] == "ok":
    failures.append(f"{POINTS // MIB} MiB of points fit into {NODE // MIB} MiB")
swapping, _ = run("fetch", NODE, 4 * POINTS)
if swapping is None:
    print("no swap file can be made here")
elif swapping["outcome"] == "ok" and swapping["major_faults"] < 10 * (paged["major_faults"] + 100):
    failures.append(f"only {swapping['major_faults']} major faults when swapping")
print("\n".join(failures))
sys.exit(1 if failures else 0)
