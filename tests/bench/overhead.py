#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""overhead.py SLUICE MPI LAUNCHER PROGRAM: checks facts about the measurement of the cost of watching, but no seconds.

Under `sluice run` the blocks that go through the wrappers are in the report, call for call, and those that go straight
to libmpi are not; a plain program has nothing between itself and its MPI; the command prints all its rows.
"""
import collections
import json
import sys
import tempfile

import watched

sluice, mpi, launcher, program = sys.argv[1:]
CASES = [("pingpong", 8), ("pingpong", 16384), ("pingpong", 65536), ("pingpong", 1048576), ("halo", 16384), ("halo", 65536),
         ("halo", 1048576), ("stencil", 16384), ("stencil", 65536), ("allreduce", 16384), ("allreduce", 262144)]
PAIRS = 3


def run(command):
    return [line.split() for line in watched.lines_of(command)]


def check(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {found} instead of {expected}")


def measures_every_case(lines):
    check("pairs", collections.Counter((words[1], int(words[2])) for words in lines if words[0] == "pair"),
          collections.Counter({case: PAIRS for case in CASES}))


def watched_blocks_are_in_the_report():
    with tempfile.TemporaryDirectory() as folder:
        lines = run([*launcher.split(), "-n", "2", sluice, "run", "--report", folder, program, "paired", str(PAIRS), "0.5"])
        report = json.load(open(folder + "/report.json"))
    measures_every_case(lines)
    check("between", ["between", "yes"] in lines, True)
    calls = {words[1]: (int(words[2]), int(words[3])) for words in lines if words[0] == "calls"}
    for function, (counted, straight) in calls.items():
        reported = sum(site["calls"] for site in report["sites"] if site["function"] == function)
        check(f"calls of {function} in the report", reported, counted)
        if function != "MPI_Barrier" and (counted < PAIRS or straight < PAIRS):
            sys.exit(f"{function}: {counted} watched and {straight} straight calls in {PAIRS} pairs of blocks")
    check("watched barriers, which keep blocks apart", calls["MPI_Barrier"][0], 0)
    # The helper thread runs during both kinds of block, and its time is measured.
    used = sum(float(words[3]) for words in lines if words[0] == "helper")
    if not 0 < used < sum(float(words[4]) for words in lines if words[0] == "helper"):
        sys.exit(f"the helper threads used {used} s")


def a_plain_program_is_not_watched():
    lines = run([*launcher.split(), "-n", "2", program, "paired", str(PAIRS), "0.5"])
    measures_every_case(lines)
    check("between", ["between", "no"] in lines, True)
    check("helper", {float(words[3]) for words in lines if words[0] == "helper"}, {0.0})


def the_command_prints_every_row():
    rows = run([sluice, "bench", "overhead", "--mpi", mpi, "--launches", "2", "--blocks", str(PAIRS), "--block-ms", "0.5",
                "--pairs", "2", "--rounds", "40", "--memory-ranks", "2", "--memory-launches", "1",
                "--case", "pingpong,allreduce", "--json"])
    rows = [json.loads(" ".join(words)) for words in rows]
    chosen = [case for case in CASES if case[0] in ("pingpong", "allreduce")]
    for ratio, pairs in (("watched/direct", 2 * PAIRS), ("direct/direct", 2 * PAIRS), ("watched/plain", 2)):
        these = [row for row in rows if row["ratio"] == ratio]
        check(f"rows of {ratio}", [(row["case"], row["bytes"]) for row in these], chosen)
        for row in these:
            check("pairs", row["pairs"], pairs)
            if not row["time"]["min"] <= row["confidence"]["low"] <= row["time"]["median"] <= row["confidence"]["high"] <= row["time"]["max"]:
                sys.exit(f"out of order: {row}")
    check("rows of memory", [row["report"] for row in rows if row["ratio"] == "watched-plain"], [False, True])
    if any(not 0 < row["added_most_kib"] < row["plain_kib"] for row in rows if row["ratio"] == "watched-plain"):
        sys.exit(f"Sluice takes some memory, and less than the MPI: {rows}")


watched_blocks_are_in_the_report()
a_plain_program_is_not_watched()
the_command_prints_every_row()
