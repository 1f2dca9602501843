#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""reloaded.py SLUICE LAUNCHER PROGRAM FIRST OTHER: a call belongs to the library that makes it, also where another one had its
addresses before.
"""
import json
import sys
import tempfile

import watched
from checks import check, conclude

sluice, launcher, *command = sys.argv[1:]
RANKS = 2
CALLS = {"first_calls": 350, "other_calls": 30}

with tempfile.TemporaryDirectory() as folder:
    done = watched.run([*launcher.split(), "-n", str(RANKS), sluice, "run", "--report", folder, *command], capture_output=True, text=True)
    check(done.returncode == 0, f"it ended with {done.returncode}\n{done.stdout}{done.stderr}")
    addresses = {line.split()[1] for line in done.stdout.splitlines() if line.startswith("address ")}
    print(f"the functions were at {addresses}")
    report = json.load(open(folder + "/report.json"))
    for function in ("MPI_Irecv", "MPI_Wait"):
        for name, calls in CALLS.items():
            places = {site["place"]: site["calls"] for site in report["sites"]
                      if site["function"] == function and site["place"].startswith(name)}
            check(list(places.values()) == [RANKS * calls], f"one place of {function} in {name}, {calls} calls of each rank: {places}")
conclude()
