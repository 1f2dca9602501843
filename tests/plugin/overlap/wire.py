#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An unmodified program that computes between its receive and the use of its data waits less over a wire, with the same results:
wire.py MPI BED SLUICE PROGRAM…

Ranks are on two nodes of the cluster bed. The program prints "sum N, computed N, waited N s". Judged are the sum, the report's
counters, and the ratio of the waiting of the two runs, which share all that the machine does to both.
"""
import json
import pathlib
import re
import sys
import tempfile

import watched
from checks import check, conclude

mpi, bed, sluice, *program = sys.argv[1:]
RATE = "1000"
ROUNDS = 8


def run(before):
    done = watched.run([bed, "--mpi", mpi, "--rate", RATE, "-n", "2", "--", *before, *program], capture_output=True, text=True)
    if done.returncode == 3 and "cluster bed: " in done.stderr:
        print("skipped:", next(line for line in done.stderr.splitlines() if "cluster bed: " in line))
        sys.exit(0)
    found = re.search(r"sum (\d+), computed (\w+), waited ([\d.]+) s", done.stdout)
    if done.returncode != 0 or not found:
        sys.exit(f"{before} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return found.group(1, 2), float(found.group(3)), done.stderr


def main():
    plain, waits, _ = run([])
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report"
        early, waits_early, said = run([sluice, "run", "--overlap", "on", "--report", str(report), "--"])
        check(plain == early, f"the same results: {plain} {early}")
        check("plainly" not in said, said)
        print(f"waited {waits:.3f} s, and {waits_early:.3f} s with --overlap on: {waits_early / waits:.2f}")
        check(waits_early < 0.5 * waits, f"half of the waiting is gone: {waits} s, {waits_early} s")
        files = list(report.glob("report*.json"))
        if mpi == "mpich":  # its ranks on several nodes do not come to know each other, so no summary is gathered
            check(not files, f"a summary of MPICH over nodes, which can be checked now: {files}")
            return
        summary = json.loads(files[0].read_text())
        counted = {counter["what"]: counter for counter in summary["counters"]}
        check("receives that returned early" in counted, f"counters: {counted}")
        print(counted.get("receives that returned early"))


main()
conclude()
