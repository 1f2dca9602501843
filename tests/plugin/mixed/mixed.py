#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs whose ranks are not started alike: mixed.py CASE SLUICE LAUNCHER PROGRAM

Some ranks run without Sluice, or keep their records in another folder than the others. What is printed is said once for the
job, and it is true. See the functions below for the cases.
"""
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

import watched
from checks import check, conclude

case, sluice, launcher, program = sys.argv[1:]
MPICH = "mpich" in launcher
STRANGERS = " ranks do not know whether all run under sluice, because some run without it, keep their records in another folder "
NO_REPORT = "no report was gathered, because the ranks do not know whether all run under sluice"


class Bed:
    """A folder that serves as TMPDIR, in which jobs run."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.environment = {**os.environ, "TMPDIR": folder, "OMPI_MCA_orte_tmpdir_base": "/tmp"}

    def run(self, command):
        done = watched.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="backslashreplace",
                           cwd=self.folder, env=self.environment)
        check(done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def job(self, *ranks):
        """Runs a job with a rank for each of these commands; returns its lines of Sluice without those of a summary."""
        words = shlex.split(launcher)
        for number, rank in enumerate(ranks):
            words += [*([":"] if number else []), "-n", "1", *rank]
        lines = [line.removeprefix("sluice: ") for line in self.run(words).stderr.splitlines() if line.startswith("sluice: ")]
        return [line for line in lines if not line.startswith((" ", "memory ", "consumers ", "time ", "objects ", "Sluice   ", "advice "))]


def are_strangers(lines):
    return len(lines) == 2 and STRANGERS in lines[0] and lines[1] == NO_REPORT


UNDER = [sluice, "run", program]
PLAIN = [program]


def plain(bed):
    """Whichever rank runs without Sluice, one line says so, and one that there is no report."""
    jobs = [[PLAIN, UNDER], [UNDER, PLAIN]]
    if not MPICH:
        jobs += [[PLAIN, UNDER, UNDER], [PLAIN, PLAIN, UNDER], [UNDER, PLAIN, UNDER]]
    for ranks in jobs:
        lines = bed.job(*ranks)
        check(are_strangers(lines), f"{['plain' if rank is PLAIN else 'under' for rank in ranks]}: {lines}")


def temporary(bed):
    """Ranks that have another TMPDIR find each other through PMIx; where there is none, the line names that reason, too."""
    (bed.folder / "other").mkdir()
    lines = bed.job(UNDER, ["env", f"TMPDIR={bed.folder}/other", *UNDER])
    alone = len(lines) == 1 and lines[0].startswith("Sluice report · 2 ranks ")
    check(are_strangers(lines) if MPICH else alone, f"another TMPDIR: {lines}")


def report(bed):
    """The report is written where rank 0 says. The other folder has records of ranks that ended, and a line says why no more."""
    folder = bed.folder / "report"
    lines = bed.job(UNDER, [sluice, "run", "--report", str(folder), program])
    if MPICH:
        check(are_strangers(lines), f"--report on rank 1: {lines}")
    else:
        said = [line for line in lines if not line.startswith("Sluice report · 2 ranks ")]
        check(len(lines) == 2 and len(said) == 1 and said[0].startswith(f"no report in {folder}: "), f"--report on rank 1: {lines}")
    text = bed.run([sluice, "report", str(folder)]).stdout
    check(text.splitlines()[0].endswith(" · ended") and "1 of 2 ranks left no record" in text, f"records of rank 1: {text}")


with tempfile.TemporaryDirectory(prefix="sluice-mixed-") as folder:
    {name: value for name, value in globals().items() if callable(value)}[case](Bed(folder))
conclude()
