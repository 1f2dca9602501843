#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""through.py SLUICE LAUNCHER PROGRAM LIBRARY: calls of MPI that a library makes for the program have the program's places, with
the library behind them, and each place all its calls.
"""
import ctypes
import json
import pathlib
import re
import sys
import tempfile

import watched
from checks import check, conclude

sluice, launcher, program, library = sys.argv[1:5]
CALLS = {"first": 20, "second": 10, "shortly": 1, "main": 5}
IN_LIBRARY = {"first": "meet", "second": "meet", "shortly": "meet"}

try:
    ctypes.CDLL("libdw.so.1")
    has_lines = True
except OSError:
    has_lines = False

with tempfile.TemporaryDirectory() as folder:
    report = folder + "/report"
    done = watched.run([*launcher.split(), "-n", "2", sluice, "run", "--report", report, program], capture_output=True, text=True)
    check(done.returncode == 0, f"it ended with {done.returncode}\n{done.stdout}{done.stderr}")
    lines = dict(re.findall(r"^(\w+) (\d+)$", done.stdout, re.MULTILINE))
    sites = [site for site in json.load(open(report + "/report.json"))["sites"] if site["function"] == "MPI_Barrier"]
    places = {site["place"]: site["calls"] for site in sites}
    for name, calls in CALLS.items():
        found = [place for place in places if place.startswith((name + "@", name + "+0x"))]
        check(len(found) == 1, f"one place of {name}: {places}")
        if len(found) != 1:
            continue
        place = found[0]
        check(places[place] == 2 * calls, f"{calls} calls of each rank in {name}: {places}")
        check(not has_lines or f"@program.c:{lines[name]} (" in place, f"{place} is in line {lines[name]}")
        behind = f", in {IN_LIBRARY[name]} of {pathlib.Path(library).name}" if name in IN_LIBRARY else ")"
        check(place.endswith(behind), f"{place} ends with {behind}")
    own = [place for place in places if place.startswith("meet")]
    check(len(own) == 1 and places[own[0]] == 2, f"the thread of the library has no place in the program: {places}")

conclude()
