#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""flood.py SLUICE MPI: checks which rows `sluice bench flood` prints, but no seconds."""
import json
import sys

import watched

sluice, mpi = sys.argv[1:]
CASES = ["many_to_one", "computes", "bcast", "reduce", "gather", "ping_pong", "turns", "idle"]
SIZES = [64, 4000]
command = [sluice, "bench", "flood", "--mpi", mpi, "--bed", "local", "--ranks", "2", "--pairs", "1", "--mib", "0.5", "--bytes",
           ",".join(map(str, SIZES)), "--minutes", "0"]


def run(*arguments):
    return watched.lines_of([*command, *arguments])


rows = [json.loads(line) for line in run("--json")]
for case in CASES:
    for size in SIZES:
        mine = [row for row in rows if row["case"] == case and row["bytes"] == size]
        kinds = [row.get("method", row.get("ratio")) for row in mine]
        if kinds != ["mpi", "sluice", "sluice/mpi"]:
            sys.exit(f"{case} of {size} bytes: {kinds}")
        for row in mine[:2]:
            if row["outcome"] != "ok" or row["messages"] != int(0.5 * 1048576 / size) + 1 or row["seconds"]["min"] <= 0:
                sys.exit(f"{row}")
for row in map(json.loads, run("--case", "many_to_one", "--seconds", "0.2", "--json")):
    if row["method"] != "sluice" or row["messages"] == 0:
        sys.exit(f"a flood by time: {row}")
table = run("--case", "many_to_one")
if len(table) != 1 + len(SIZES):
    sys.exit("\n".join(table))
