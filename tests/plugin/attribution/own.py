#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""own.py SLUICE LAUNCHER RANKS PROGRAM: runs the program with and without `sluice run`, and compares what Sluice says that
it holds with what the kernel says that the process holds more: pages that belong to no file, and those of Sluice's own
files in full. So neither figure depends on other programs of the machine.
"""
import json
import statistics
import sys
import tempfile

import watched

sluice, launcher, ranks, program = sys.argv[1:]
ROUNDS = 3
MOST_KIB = 300


def kernel_of(command):
    """For each rank the figures that the program prints: anonymous, private, of Sluice's files."""
    run = watched.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{command} ended with {run.returncode}\n{run.stdout}{run.stderr}")
    lines = [line.split()[1:] for line in run.stdout.splitlines() if line.startswith("kernel ")]
    found = {int(rank): [int(kib) for kib in figures] for rank, *figures in lines}
    if sorted(found) != list(range(int(ranks))):
        sys.exit(f"figures of {sorted(found)} instead of {ranks} ranks\n{run.stdout}{run.stderr}")
    return found


def main():
    launch = [*launcher.split(), "-n", ranks]
    without, watching, said, served = [], [], [], 0
    for _ in range(ROUNDS):
        without.append(kernel_of([*launch, program]))
        with tempfile.TemporaryDirectory() as folder:
            watching.append(kernel_of([*launch, sluice, "run", "--report", folder, program]))
            report = json.load(open(folder + "/report.json"))
        said.append([report["ranks"][rank]["last"]["sluice_kib"] for rank in range(int(ranks))])
        served += report["served_calls"]
    if served == 0:
        sys.exit("no call was served, so nothing of Sluice's staging was there")
    wrong = 0
    for rank in range(int(ranks)):
        def median(runs, figure):
            return statistics.median(figure(run[rank]) for run in runs)
        files = median(watching, lambda figures: figures[2])
        anonymous = median(watching, lambda figures: figures[0]) - median(without, lambda figures: figures[0])
        private = median(watching, lambda figures: figures[1]) - median(without, lambda figures: figures[1])
        figure = median(said, lambda kib: kib)
        off = figure - (anonymous + files)
        print(f"rank {rank}: Sluice says {figure} KiB; the kernel {anonymous + files}, of which {files} of Sluice's files; "
              f"off by {off}; private pages and files {private + files}")
        if files < 300 or abs(off) > MOST_KIB:
            wrong += 1
    if wrong:
        sys.exit(f"Sluice's figure is off by more than {MOST_KIB} KiB, or its files were not found")


main()
