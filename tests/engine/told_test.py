#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the library says goes to standard error or nowhere: told_test.py LAUNCHER PROGRAM SLUICE

Runs told.cpp, whose head has the ways, alone and with 2 ranks, the latter also under `sluice run --quiet` if SLUICE names
the command.
"""
import os
import pathlib
import re
import sys
import tempfile

import watched
from checks import check, conclude

launcher, program, *command = sys.argv[1:]
LINES = {
    "MADRE": r"^MADRE: .*-1",
    "a late Context": r"^sluice: rank \d+ destroys a Context after MPI_Finalize",
}


def run(folder, ranks, way, *before, **environment):
    """Returns the lines of standard error that are the library's."""
    done = watched.run([*launcher.split(), "-n", str(ranks), *before, program, way, str(folder / way)], capture_output=True,
                       text=True, env={**os.environ, **environment})
    check(done.returncode == 0, f"{way}, {ranks} ranks: ends with {done.returncode}: {done.stderr}")
    return [line for line in done.stderr.splitlines() if line.startswith(("sluice:", "MADRE:"))]


with tempfile.TemporaryDirectory(prefix="sluice-told-") as temporary:
    folder = pathlib.Path(temporary)
    for ranks in (1, 2):
        said = run(folder, ranks, "open")
        for what, words in LINES.items():
            count = sum(1 for line in said if re.search(words, line))
            wanted = 1 if what == "MADRE" else ranks
            check(count == wanted, f"{ranks} ranks: {what} is said {wanted} times: {said}")
        said = run(folder, ranks, "quiet")
        check(all(line.startswith("MADRE") for line in said), f"{ranks} ranks, the setting of a Context: {said}")
        said = run(folder, ranks, "open", SLUICE_QUIET="on")
        check(said == [], f"{ranks} ranks, SLUICE_QUIET=on: {said}")
        said = run(folder, ranks, "data")
        check(said == [], f"{ranks} ranks, nothing is said elsewhere: {said}")
        for rank in range(ranks):
            data = (folder / f"data.{rank}").read_bytes()
            check(data == b"data\n", f"rank {rank} of {ranks}: the data file holds the data alone: {data}")
    if command:
        said = run(folder, 2, "open", *command, "run", "--quiet")
        check(said == [], f"sluice run --quiet: {said}")
conclude()
