#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""each_once.py SLUICE MPI: runs `sluice bench alltoall` and `sluice bench registration` with little data and checks which rows
they print, and that their tables are printed. The programs themselves check the data."""
import json
import sys

import watched

sluice, mpi = sys.argv[1:]


def rows(name, *arguments):
    return [json.loads(line) for line in watched.lines_of([sluice, "bench", name, "--json", *arguments])]


def check(what, right):
    if not right:
        sys.exit(what)


def alltoall():
    ranks = ["2"] if mpi == "mpich" else ["2", "3"]  # more than the machine has processors: MPICH spins
    words = ("--mpi", mpi, "--ranks", ",".join(ranks), "--bytes", "64,20000", "--pairs", "1")
    printed = rows("alltoall", *words)
    cells = {}
    for row in printed:
        if "method" in row:
            cells.setdefault((row["case"], row["ranks"], row["bytes"], row["buffers"]), []).append(row["method"])
    check(f"{sorted(cells)}", len(cells) == 2 * len(ranks) * 2 * 2)
    for cell, methods in cells.items():
        check(f"{cell}: {methods}", {"mpi", "window", "auto", "plan"} <= set(methods) and len(methods) == len(set(methods)))
    table = watched.lines_of([sluice, "bench", "alltoall", *words])
    check(f"{table}", sum(line.startswith("alltoall") for line in table) == 2 * len(ranks))


def registration():
    for words, registrar in (((), "counting"), (("--registrar", "mlock", "--seconds", "0.05", "--pairs", "1"), "mlock")):
        printed = rows("registration", "--case", "regular", "--scheme", "sluice,leave_pinned,direct", *words)
        methods = {row["method"]: row for row in printed if "method" in row}
        check(f"{registrar}: {sorted(methods)}", {"sluice", "leave_pinned", "direct"} <= set(methods))
        check(f"{printed}", all(row["registrar"] == registrar for row in printed))
        check(f"{registrar}: {methods}", all(row["peak_pinned"] > 0 for row in methods.values()))


alltoall()
registration()
