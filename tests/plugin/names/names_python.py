#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""names_python.py SLUICE LAUNCHER PYTHON PROGRAM: calls through mpi4py, MPI_Init too, have places in the program, with lines,
also if it lies in a folder of that name; with a Python whose frames are not known they have places in mpi4py.
"""
import json
import pathlib
import re
import shutil
import sys
import tempfile

import watched
from checks import check, conclude

sluice, launcher, python, program = sys.argv[1:5]
CALLS = {"Löser.schritt": 10, "deep": 10, "<lambda>": 3}

version = watched.run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True).stdout.strip()
if watched.run([python, "-c", "import mpi4py"], capture_output=True).returncode != 0:
    print("skipped: needs mpi4py (Debian: python3-mpi4py)")
    sys.exit(0)


def check_places(folder, program):
    report = folder + "/report"
    done = watched.run([*launcher.split(), "-n", "2", sluice, "run", "--report", report, python, program], capture_output=True, text=True)
    check(done.returncode == 0, f"it ended with {done.returncode}\n{done.stdout}{done.stderr}")
    lines = dict(re.findall(r"^(\S+) (\d+)$", done.stdout, re.MULTILINE))
    sites = json.load(open(report + "/report.json"))["sites"]
    barriers = {site["place"]: site["calls"] for site in sites if site["function"] == "MPI_Barrier"}
    begins = [site["place"] for site in sites if site["function"].startswith("MPI_Init")]
    if version == "3.11":
        file = pathlib.Path(program).name
        check(barriers == {f"{name}@{file}:{lines.get(name)} (Python)": 2 * calls for name, calls in CALLS.items()},
              f"the program's places, with all their calls: {barriers} {lines}")
        check(len(begins) == 1 and begins[0].startswith(f"<module>@{file}:"), f"the import initializes MPI: {begins}")
    else:
        check(len(barriers) == 1 and next(iter(barriers)).startswith("MPI."), f"Python {version}: {barriers}")


with tempfile.TemporaryDirectory() as folder:
    check_places(folder, program)
    inside = pathlib.Path(folder) / "mpi4py"
    inside.mkdir()
    check_places(str(inside), shutil.copy(program, inside))

conclude()
