#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""bench/compare_builds.py with two commands that print made-up rows: its comparisons, its intervals and its bound."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

compare = sys.argv[1]


def command(folder, name, rows):
    """A program that prints these rows, and writes down how it was called."""
    path = folder / name
    lines = "\n".join(json.dumps(row) for row in rows)
    path.write_text(f"#!/bin/sh\necho {name} \"$@\" >>{folder}/calls\ncat <<'ROWS'\n{lines}\nROWS\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def compared(folder, old, new, *arguments):
    (folder / "calls").unlink(missing_ok=True)
    done = subprocess.run([compare, *arguments[:2], command(folder, "old", old), command(folder, "new", new), *arguments[2:]],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"ended with {done.returncode}: {done.stderr}")
    return [" ".join(line.split()) for line in done.stdout.splitlines()], (folder / "calls").read_text(encoding="utf-8").splitlines()


def check(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {found} instead of {expected}")


def added(case, size, nanoseconds):
    return {"bench": "overhead", "case": case, "mpi": "openmpi", "ranks": 2, "bytes": size, "ratio": "watched/direct",
            "seconds_added": nanoseconds * 1e-9}


def took(method, seconds):
    return {"bench": "redistribute", "case": "random", "mpi": "openmpi", "ranks": 2, "method": method,
            "seconds": {"min": 0, "median": seconds, "max": 9}}


with tempfile.TemporaryDirectory() as name:
    where = Path(name)
    lines, calls = compared(where, [added("halo", 16384, 100), added("pingpong", 8, 60)],
                            [added("halo", 16384, 110), added("pingpong", 8, 80), added("allreduce", 8, 5)],
                            "--turns", "3", "overhead", "--pairs", "0")
    check("differences a call", lines, ["halo openmpi 2 16384 watched/direct +2.0 ns a call [+2.0, +2.0]",
                                        "pingpong openmpi 2 8 watched/direct +10.0 ns a call [+10.0, +10.0] ABOVE THE BOUND",
                                        "median of 2 rows 6.000 ns a call"])
    options = "bench overhead --json --pairs 0"
    check("turns", calls, [f"{build} {options}" for build in ("old", "new", "new", "old", "old", "new")])

    lines, _ = compared(where, [took("token", 2.0), took("alltoallv_warm", 4.0), {"ratio": "token/alltoallv_warm"}],
                        [took("token", 1.0), took("alltoallv_warm", 4.0)], "--turns", "2", "redistribute")
    check("ratios", lines, ["random openmpi 2 alltoallv_warm 1.000 [1.000, 1.000]", "random openmpi 2 token 0.500 [0.500, 0.500]",
                            "median of 2 rows 0.750"])

    nothing = subprocess.run([compare, command(where, "old", [took("a", 1)]), command(where, "new", [took("b", 1)]), "redistribute"],
                             capture_output=True, text=True, check=False)
    check("builds without a common row", (nothing.returncode, nothing.stderr), (1, "the two builds have no row in common\n"))
