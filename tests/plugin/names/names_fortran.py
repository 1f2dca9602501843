#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""names_fortran.py SLUICE LAUNCHER PROGRAM SOURCE: calls through the MPI's Fortran bindings, MPI_Init too, have places in the
program, with their lines if libdw is there.
"""
import ctypes
import json
import pathlib
import sys
import tempfile

import watched
from checks import check, conclude

sluice, launcher, program, source = sys.argv[1:5]
FUNCTIONS = ("MPI_Init", "MPI_Barrier")

try:
    ctypes.CDLL("libdw.so.1")
    has_lines = True
except OSError:
    has_lines = False

text = pathlib.Path(source).read_text().splitlines()
with tempfile.TemporaryDirectory() as folder:
    report = folder + "/report"
    done = watched.run([*launcher.split(), "-n", "2", sluice, "run", "--report", report, program], capture_output=True, text=True)
    check(done.returncode == 0, f"it ended with {done.returncode}\n{done.stdout}{done.stderr}")
    found = {site["function"]: site["place"] for site in json.load(open(report + "/report.json"))["sites"]}
    for function in FUNCTIONS:
        place = found.get(function, "")
        check(place.endswith(f" ({pathlib.Path(program).name})"), f"{function} is called by the program: {found}")
        check(not has_lines or f"@{pathlib.Path(source).name}:" in place, f"{function} has a line: {found}")
    # GCC gives the call of Open MPI's MPI_Init the line before its subroutine.
    line = next(i for i, words in enumerate(text, 1) if "call MPI_Barrier(" in words)
    check(not has_lines or f":{line} " in found.get("MPI_Barrier", ""), f"MPI_Barrier is called in line {line}: {found}")

conclude()
