#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""known.py SLUICE LAUNCHER RANKS PROGRAM MODE: runs the program under `sluice run --report` and compares each rank's
memory of MPI in the report with the amount that the program knows, within 5 %.
"""
import json
import sys
import tempfile

import watched
from checks import needs_shared_memory

sluice, launcher, ranks, program, mode = sys.argv[1:]
if mode == "allocated":
    needs_shared_memory(512)
# Tolerances for pages that appear between the program's readings. "private": pages of stdio and of the program's own
# stack. "shared": Sluice's ledger and, where the record is in memory, its pages.
SLACK_KIB = {"private": 256, "shared": 512}
# Of 24 MiB, beside busy processes. A barrier that takes 32 times as long as the program since the last reading has its share
# of an array.
ARRAYS_KIB = 4096
# What an MPI may take in a call and give back.
BETWEEN_KIB = 3072


def main():
    with tempfile.TemporaryDirectory() as folder:
        command = [*launcher.split(), "-n", ranks, sluice, "run", "--report", folder, program, mode]
        run = watched.run(command, capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"{command} ended with {run.returncode}\n{run.stdout}{run.stderr}")
        report = json.load(open(folder + "/report.json"))
    wrong = 0
    if mode == "inplace":
        # At most 256 KiB of staging, and what grows with the calls of a program. How much of the code is resident is the
        # kernel's choice: it maps the blocks of the page cache whole, which a file that was just written has large.
        served = report["served_calls"]
        fixed, most = report["sluice_fixed_kib"], report["sluice_kib"]["max"]
        print(f"sluice {most} KiB, of it fixed {fixed['min']} to {fixed['max']} KiB, {served} calls served")
        if served != 5 * int(ranks) or not 300 <= most <= fixed["min"] + 512 or fixed["max"] > 4096:
            sys.exit("all 5 calls of every rank should have been served, in at most 512 KiB beside the fixed ones, 4 MiB at most")
        counts = [row["count"] for row in report["counters"]
                  if (row["service"], row["what"]) == ("all-to-alls in place", "calls served")]
        if len(counts) != 1 or (counts[0]["ranks"], counts[0]["min"], counts[0]["max"]) != (int(ranks), 5, 5):
            sys.exit(f"the service should have counted 5 calls on every rank: {report['counters']}")
        return
    truths = [line.split()[1:] for line in run.stdout.splitlines() if line.startswith("truth ")]
    if len(truths) != 3 * int(ranks):
        sys.exit(f"{len(truths)} truths of {ranks} ranks\n{run.stdout}{run.stderr}")
    for rank in range(int(ranks)):
        last = report["ranks"][rank]["last"]
        known = {owner: int(kib) for number, owner, kib in truths if int(number) == rank}
        # The program takes what Sluice has in no file for the MPI's where it came inside a call, as most of it does.
        sluices = max(0, last["sluice_kib"] - known["sluice_files"])
        pairs = {"private": (last["mpi_private_kib"], known["mpi_private"], sluices),
                 "shared": (last["mpi_shared_kib"], known["mpi_shared"], 0)}
        for owner, (reported, true, others) in pairs.items():
            print(f"rank {rank} {owner}: {reported} KiB reported, {true} known, of which up to {others} are Sluice's")
            slack = 0.05 * abs(true) + (ARRAYS_KIB if mode == "arrays" else SLACK_KIB[owner])
            if not true - others - slack <= reported <= true + slack:
                wrong += 1
            # The samples inside calls, too: buffers are the application's while they fill.
            most = max(report["ranks"][rank]["curve"][f"mpi_{owner}_kib"])
            if mode in ("fresh", "untouched", "late", "wide", "beside") and most > 1.05 * abs(true) + BETWEEN_KIB:
                print(f"rank {rank} {owner}: {most} KiB reported in a sample")
                wrong += 1
    if mode == "application":
        for rank in range(int(ranks)):
            last = report["ranks"][rank]["last"]
            own = last["resident_kib"] - last["mpi_private_kib"] - last["mpi_shared_kib"] - last["files_kib"] - last["sluice_kib"]
            before = report["before_init_bytes"]["max"] // 1024
            known = (rank + 1) * 32768
            print(f"rank {rank} application: {own} KiB reported, {known} touched, {before} before MPI_Init")
            if not known <= own <= 1.05 * known + before:
                wrong += 1
    if wrong:
        sys.exit(f"{wrong} of the figures are off by more than 5 %")


main()
