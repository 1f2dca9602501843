#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""names.py SLUICE LAUNCHER PROGRAM: source lines in reports, at the end of a job and of a job that was killed; none for a
program that was written anew since. Prints "skipped: …" without libdw.
"""
import ctypes
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

import watched
from checks import check, conclude

sluice, launcher, program = os.path.abspath(sys.argv[1]), *sys.argv[2:4]
SOURCE = "names.cpp"


def run(folder, binary, mode):
    report = str(folder / f"report-{mode}")
    done = watched.run([*launcher.split(), "-n", "2", sluice, "run", "--report", report, str(binary), mode],
                       capture_output=True, text=True)
    check(mode == "killed" or done.returncode == 0, f"{mode} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return report, done.stdout + done.stderr, dict(re.findall(r"(SENDS|RECEIVES) (\d+)", done.stdout))


def places(report, *options, cwd=None):
    """The places of a report by the function of MPI that they call."""
    shown = watched.run([sluice, "report", report, "--json", *options], capture_output=True, text=True, cwd=cwd)
    return {site["function"]: site["place"] for site in json.loads(shown.stdout)["sites"]}, shown.stdout


def has_line(place, line):
    return place.count("@") == 1 and place.startswith("(anonymous namespace)::Field<double, 3>::") and place.endswith(f"@{SOURCE}:{line} ({binary.name})")


try:
    ctypes.CDLL("libdw.so.1")
except OSError:
    print("skipped: needs libdw (package libdw1)")
    sys.exit(0)

with tempfile.TemporaryDirectory() as made:
    folder = pathlib.Path(made)
    binary = folder / "a_program"
    shutil.copy2(program, binary)

    report, said, lines = run(folder, binary, "ends")
    check(set(lines) == {"SENDS", "RECEIVES"}, f"the program tells its lines: {said}")
    found, _ = places(report)
    check(has_line(found.get("MPI_Recv", ""), lines.get("RECEIVES")), f"the report at the end has the line: {found} {lines}")
    check(has_line(found.get("MPI_Send", ""), lines.get("SENDS")), f"the report at the end has the line: {found} {lines}")
    text = json.dumps(json.load(open(report + "/report.json")))
    check(made not in text and os.path.dirname(program) not in text, f"the report has no folder: {text[:2000]}")

    report, said, _ = run(folder, binary, "killed")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    found, shown = places(report, cwd=elsewhere)
    check("+0x" in found.get("MPI_Recv", ""), f"a program that is not found keeps the offset: {found}")
    found, shown = places(report, cwd=folder)
    check(has_line(found.get("MPI_Recv", ""), lines.get("RECEIVES")), f"it is found in the present folder: {found}")
    found, shown = places(report, "--program", str(binary), cwd=elsewhere)
    check(has_line(found.get("MPI_Recv", ""), lines.get("RECEIVES")), f"it is found where it was named: {found}")
    text = watched.run([sluice, "report", report], capture_output=True, text=True, cwd=folder).stdout
    check(f"@{SOURCE}:{lines.get('RECEIVES')} (" in re.sub(r"\s+", " ", text), f"the text names the line: {text}")

    os.utime(binary)
    found, shown = places(report, "--program", str(binary), cwd=folder)
    check("+0x" in found.get("MPI_Recv", ""), f"a program that was written since is another one: {found}")

conclude()
