#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The relaxation in a node that is too small for all ghost faces at once: that form is killed; fetching ends with the
same checksum as in a large node.

    jacobi3d_limited.py BED PROGRAM LAUNCHER...
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


def run(form, limit):
    """Returns the outcome of the bed, and the checksum if there is one."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        command = [bed, "--memory", f"{limit // MIB}MiB", "--report", report, "--"]
        command += launcher + [program, form, "6", "6", "32", "13"]
        environment = dict(os.environ, SLUICE_FETCH_MEMORY="1MiB", SLUICE_SERVE_MEMORY="512KiB")
        done = watched.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(done.stdout, end="")
        with open(report, encoding="utf-8") as file:
            outcome = json.load(file)
    checksum = re.search(r"checksum (\w+)", done.stdout)
    return outcome, checksum and checksum.group(1)


large_all, right = run("all", 600 * MIB)
if "control group" not in large_all["limit"]:
    print("skipped: no memory control group can be made here (needs root)")
    sys.exit(0)
large_fetch, fetched = run("fetch", 600 * MIB)
failures = []
if right is None or fetched != right:
    failures.append(f"checksums differ: {right} all at once, {fetched} fetched")
saved = large_all["peak_held_bytes"] - large_fetch["peak_held_bytes"]
if saved < 20 * MIB:  # 108 cubes on each rank, with 96 KiB of ghosts each, sent and received: 2 x 2 x 10 MiB
    failures.append(f"fetching saved {saved / MIB:.1f} MiB of {large_all['peak_bytes'] / MIB:.1f}")

small = large_fetch["peak_held_bytes"] + saved // 2
killed, _ = run("all", small)
if killed["outcome"] == "ok":
    failures.append(f"all at once fits into {small / MIB:.0f} MiB")
fits, fetched = run("fetch", small)
if fits["outcome"] != "ok" or fetched != right:
    failures.append(f"fetching in {small / MIB:.0f} MiB: {fits['outcome']}, checksum {fetched}")
print("\n".join(failures))
sys.exit(1 if failures else 0)
