#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""job_test.py CASE LAUNCHER SLUICE PROGRAM: runs two ranks of PROGRAM under `sluice run` with a mistake. Sluice prints
one line about it for the job, not one for each rank. Wrong use ends the job with exit code 2; a part that Sluice can
do without does not end it.
"""

import os
import shlex
import subprocess
import sys
import tempfile

import watched

RANKS = 2
case, launcher, sluice, program = sys.argv[1:]
launcher = shlex.split(launcher)


def run(arguments, before=(), second=None, code=0):
    """Runs the job; returns Sluice's lines on standard error, without those of the report."""
    command = [*before, *launcher, "-n", str(RANKS), sluice, "run", *arguments]
    if second:
        command += [":", "-n", "1", sluice, "run", *second]
    ended = watched.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    print(shlex.join(command), "\n", ended.returncode, "\n", ended.stdout, ended.stderr)
    lines = [line for line in ended.stderr.splitlines() if line.startswith("sluice: ")]
    begin = [index for index, line in enumerate(lines) if line.startswith("sluice: Sluice report")]
    if ended.returncode != code:
        sys.exit(f"the exit code is {ended.returncode}, not {code}")
    if code == 0 and (len(begin) != 1 or f"{RANKS} ranks" not in lines[begin[0]]):
        sys.exit(f"there is no report of {RANKS} ranks")
    # The summary's lines are indented or begin with a word of their own, so lines with these beginnings are complaints.
    return [line for line in lines if line.startswith(("sluice: no ", "sluice: only", "sluice: cannot")) or code != 0]


def expect_one(lines, text):
    if len(lines) != 1 or text not in lines[0]:
        sys.exit(f"expected one line that says '{text}', and there are {len(lines)}")


def full_disk(folder):
    """Returns a prefix that mounts a small full disk on the folder for the command after it alone; empty if mounting is
    forbidden.
    """
    script = 'mount -t tmpfs -o size=64k none "$0" && { cat /dev/zero >"$0/fill" 2>/dev/null; exec "$@"; }'
    for unshare in (["unshare", "--mount"], ["unshare", "--mount", "--map-root-user"]):
        before = [*unshare, "sh", "-c", script, folder]
        if subprocess.run([*before, "true"], capture_output=True, check=False).returncode == 0:
            return before
    print("skipped: no file system can be mounted here, so no disk is full")
    sys.exit(0)


with tempfile.TemporaryDirectory(prefix="sluice-job-") as folder:
    if case == "wrong_value":
        expect_one(run(["--memory", "lots", program], code=2), "--memory cannot be 'lots'")
    elif case == "wrong_option":
        expect_one(run(["--reprot", folder, program], code=2), "did you mean '--report'?")
    elif case == "no_program":
        expect_one(run(["./no_such_program"], code=127), "cannot run ./no_such_program: No such file")
    elif case == "wrong_second_program":
        # Rank 0 is not among those that make the mistake. Its program does not use MPI, because a program that does
        # would wait for the others for ever.
        lines = run(["--", "sleep", "1"], second=["--watch", "maybe", program], code=2)
        expect_one([line for line in lines if "cannot be" in line], "--watch cannot be 'maybe'")
    elif case == "folder_in_a_file":
        file = os.path.join(folder, "file")
        open(file, "w", encoding="utf-8").close()
        expect_one(run(["--report", os.path.join(file, "report"), program]), "no report: ")
    elif case == "full_disk":
        disk = os.path.join(folder, "disk")
        os.mkdir(disk)
        expect_one(run(["--report", disk, program], before=full_disk(disk)), "are free there, and the record of a rank needs")
    else:
        sys.exit(f"no case is called {case}")
