#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""making_costs.py SLUICE LAUNCHER RANKS PROGRAM KIND NUMBER [BYTES]: makes so many objects in the program many_makings under
`sluice run`. Their number is exact; the memory of the process is read at a few of them only, and what the report says that they
took is near to what they took. With --watch off nothing is read.
"""
import json
import sys
import tempfile

import watched
from checks import check, conclude

sluice, launcher, ranks, program, kind, *arguments = sys.argv[1:]
NAMES = {"type": "datatype", "group": "group", "request": "request"}
MAKINGS = {"group": 2}
# Reads of the program's own, and those when memory grows all the time: a pair each 200 microseconds, which is more for an
# object where a busy machine makes it slowly.
MOST_READS = 0.1
MICROSECONDS_OF_A_READ = 100
NEAR = 0.2
# What the place has of it that makes them: its measured calls and its share of the others.
OF_PLACE = 0.5
# Where the program takes memory, too: the MPI may take its own for hundreds of objects at once, of which few are measured.
MOST_OF_ALL = 0.9
SLACK_KIB = 512


def told_by(*options):
    command = [*launcher.split(), "-n", ranks, sluice, "run", *options, program, kind, *arguments]
    done = watched.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    told = [[int(word) for word in line.split()[1:]] for line in done.stdout.splitlines() if line.startswith("made ")]
    check(len(told) == int(ranks), f"each rank tells what it did: {told}")
    return told


def main():
    with tempfile.TemporaryDirectory() as folder:
        told = told_by("--report", folder)
        report = json.load(open(folder + "/report.json"))
    number = told[0][0]
    for _, reads, _, _, us in told:
        print(f"{number} times, {reads} reads in {us} us")
        check(reads < max(MOST_READS * number, us / MICROSECONDS_OF_A_READ) + 100, f"{reads} reads of files for {number} objects")
    rows = [row for row in report["objects"] if row["kind"] == NAMES[kind]]
    made = MAKINGS.get(kind, 1) * number * int(ranks)
    check(rows and rows[0]["made"]["sum"] == made, f"{made} were made: {rows}")
    took = max(grown - own for _, _, grown, own, _ in told)
    have = rows[0]["grown_bytes"]["max"] / 1024
    print(f"{have:.0f} KiB in the calls that made them, {took} KiB in truth; {rows[0]['estimated_bytes'] / 1024:.0f} estimated")
    last = max(rank["last"]["mpi_private_kib"] - report["init_private_bytes"]["max"] / 1024 for rank in report["ranks"])
    if len(arguments) > 1:
        most = MOST_OF_ALL * max(grown for _, _, grown, *_ in told)
        check(max(have, last) < most, f"{have:.0f} KiB for the objects, {last:.0f} KiB more in MPI, {took} in truth, at most {most:.0f}")
    else:
        check(abs(have - took) <= NEAR * took + SLACK_KIB, f"{have:.0f} KiB for the objects, {took} KiB in truth")
        check(abs(last - took) <= NEAR * took + 8 * SLACK_KIB, f"MPI has {last:.0f} KiB more than after MPI_Init, {took} in truth")
        if kind == "request":
            place = max(site["grown_bytes"]["max"] for site in report["sites"] if site["function"] == "MPI_Recv_init") / 1024
            check(place >= OF_PLACE * took - SLACK_KIB, f"{place:.0f} KiB at the place that makes them, {took} in truth")
    told = told_by("--watch", "off")
    check(max(reads for _, reads, *_ in told) < 100, f"nothing is read without watching: {told}")
    conclude()


main()
