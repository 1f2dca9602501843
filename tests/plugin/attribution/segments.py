#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""segments.py SLUICE LAUNCHER RANKS PROGRAM MODE: the need of a node against the sum of what the kernel says that each rank
holds proportionally (PSS, without pages of files), where ranks have shared memory each for itself (own), or all the same (common).
"""
import json
import sys
import tempfile

import watched

sluice, launcher, ranks, program, mode = sys.argv[1:]
ABOVE_KIB = 8 << 10  # ranks are at their peaks at different times
SEGMENT_KIB = 48 << 10
NEAR_KIB = 2048


def main():
    with tempfile.TemporaryDirectory() as folder:
        command = [*launcher.split(), "-n", ranks, sluice, "run", "--report", folder, program, mode]
        run = watched.run(command, capture_output=True, text=True)
        truths = [[int(number) for number in line.split()[1:]] for line in run.stdout.splitlines() if line.startswith("kernel ")]
        if run.returncode != 0 or len(truths) != int(ranks):
            sys.exit(f"{command} ended with {run.returncode}\n{run.stdout}{run.stderr}")
        report = json.load(open(folder + "/report.json", encoding="utf-8"))
    node = report["nodes"][0]
    need = max(node["peaks_own_kib"] + node["peaks_shared_kib"], node["most_kib"])
    held = sum(pss for _, pss, _ in truths)
    # At its peak a rank of `own` has the buffer that it sends from, too.
    least = held + (int(ranks) * SEGMENT_KIB if mode == "own" else 0)
    print(f"need {need} KiB; the kernel {least}; shared {[shared for _, _, shared in truths]}")
    if not least - NEAR_KIB <= need <= least + ABOVE_KIB:
        sys.exit("the need of the node is not what its ranks hold together")
    for rank in range(int(ranks)):
        last = report["ranks"][rank]["last"]
        print(f"rank {rank}: {last['mpi_shared_kib']} KiB of shared memory are the MPI's")
        if last["mpi_shared_kib"] > SEGMENT_KIB / 2:
            sys.exit("shared memory of the program was taken for the MPI's")


main()
