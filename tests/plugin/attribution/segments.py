#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""segments.py SLUICE LAUNCHER RANKS PROGRAM MODE: the need of a node against the sum of what the kernel says that each rank
holds proportionally (PSS, without pages of files), where ranks have shared memory each for itself (own), or all the same (common),
or have arrays of sluice::allocate, which all of them map (arrays).
"""
import json
import sys
import tempfile

import watched
from checks import needs_shared_memory

sluice, launcher, ranks, program, mode = sys.argv[1:]
if mode == "common":
    needs_shared_memory(256)
ABOVE_KIB = 8 << 10  # ranks are at their peaks at different times
SEGMENT_KIB = 48 << 10
NEAR_KIB = 2048


def launch():
    """The report, and for each rank what the kernel says: its number, PSS and shared memory."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*launcher.split(), "-n", ranks, sluice, "run", "--report", folder, program, mode]
        run = watched.run(command, capture_output=True, text=True)
        truths = [[int(number) for number in line.split()[1:]] for line in run.stdout.splitlines() if line.startswith("kernel ")]
        if run.returncode != 0 or len(truths) != int(ranks):
            sys.exit(f"{command} ended with {run.returncode}\n{run.stdout}{run.stderr}")
        return json.load(open(folder + "/report.json", encoding="utf-8")), truths


def is_need_right():
    """False if the report counts more than the node holds."""
    report, truths = launch()
    node = report["nodes"][0]
    need = max(node["peaks_own_kib"] + node["peaks_shared_kib"], node["most_kib"])
    held = sum(pss for _, pss, _ in truths)
    # At its peak a rank of `own` has the buffer that it sends from, too.
    least = held + (int(ranks) * SEGMENT_KIB if mode == "own" else 0)
    print(f"need {need} KiB; the kernel {least}; shared {[shared for _, _, shared in truths]}")
    if need < least - NEAR_KIB:
        sys.exit("the need of the node is less than its ranks hold together")
    if mode == "arrays" and sum(shared for _, _, shared in truths) < 1.25 * int(ranks) * SEGMENT_KIB:
        sys.exit("ranks have not touched the arrays of each other")
    for rank in range(int(ranks)):
        last = report["ranks"][rank]["last"]
        print(f"rank {rank}: {last['mpi_shared_kib']} KiB of shared memory are the MPI's")
        if last["mpi_shared_kib"] > SEGMENT_KIB / 2:
            sys.exit("shared memory of the program was taken for the MPI's")
    return need <= least + ABOVE_KIB


# What a rank shares is read seldom on a busy machine: a reading may be from before its peer has mapped the array.
launches = 10 if mode == "arrays" else 1
if not any(is_need_right() for _ in range(launches)):
    sys.exit("the need of the node is more than its ranks hold together")
