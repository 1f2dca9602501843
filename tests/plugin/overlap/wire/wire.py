#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An unmodified program that computes between its receive and the use of its data waits less over a wire, with the same results:
wire.py hides|learns|mates MPI BED SLUICE PROGRAM…

Ranks are on two nodes of the cluster bed. The program prints "sum N, computed N, waited N s". Judged are the sum, the report's
counters, and the ratio of the waiting of the two runs, which share all that the machine does to both.
  hides    with --overlap on: receives return early and half of the waiting is gone, in one of five pairs of runs: what else the
           machine does can only hide that
  learns   with --overlap auto, the program looks at its data at once: its receive is left alone after some tries
  mates    with --overlap auto, both ranks are on one node and a third is on another: receives within a node are left alone
"""
import json
import pathlib
import re
import sys
import tempfile

import watched
from checks import check, conclude

case, mpi, bed, sluice, *program = sys.argv[1:]
RATE = "1000"  # Mbit/s
RANKS = "3" if case == "mates" else "2"


def run(before):
    done = watched.run([bed, "--mpi", mpi, "--rate", RATE, "-n", RANKS, "--", *before, *program], capture_output=True, text=True)
    if done.returncode == 3 and "cluster bed: " in done.stderr:
        print("skipped:", next(line for line in done.stderr.splitlines() if "cluster bed: " in line))
        sys.exit(0)
    found = re.search(r"sum (\d+), computed (\w+), waited ([\d.]+) s", done.stdout)
    if done.returncode != 0 or not found:
        sys.exit(f"{before} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return found.group(1, 2), float(found.group(3)), done.stderr


def counters_in(folder):
    """What the report counted, by name."""
    files = list(folder.glob("report*.json"))
    if not files:
        return {}
    return {counter["what"]: counter["count"]["sum"] for counter in json.loads(files[0].read_text())["counters"]}


def run_pair():
    """Waiting without Sluice and with it, and what was counted. Judges all that no load of the machine changes."""
    plain, waits, _ = run([])
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report"
        mode = "on" if case == "hides" else "auto"
        served, waits_served, said = run([sluice, "run", "--overlap", mode, "--report", str(report), "--"])
        counted = counters_in(report)
    check(plain == served, f"the same results: {plain} {served}")
    check("overlap: off" not in said and "plainly" not in said, said)
    print(f"waited {waits:.3f} s, and {waits_served:.3f} s with --overlap {mode}: {waits_served / waits:.2f}; {counted}")
    return waits, waits_served, counted


def early_in(counted):
    return counted.get("receives that returned early", 0)


def hides():
    """On a busy machine a message may be there before the program waits for it: then no receive returns early."""
    waits, waits_served, counted = run_pair()
    return waits_served < 0.5 * waits and early_in(counted) > 0


def main():
    if case == "hides":
        check(any(hides() for _ in range(5)), "half of the waiting is gone, and receives returned early")
        return
    _, _, counted = run_pair()
    if case == "mates":
        check(early_in(counted) == 0, f"no receive returns early: {counted}")
        check(counted.get("receives within a node", 0) > 0, f"receives within a node were seen: {counted}")
    if case == "learns":
        early, alone = early_in(counted), counted.get("receives at places without gain", 0)
        check(early > 0, f"receives returned early: {counted}")
        check(alone > early, f"most receives are left alone: {alone} of {alone + early}")


main()
conclude()
