#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A job of three ranks hangs, because rank 1 is in another call: each rank that waits in a call of Sluice says so.

    stuck_test.py PROGRAM LAUNCHER...
"""
import os
import re
import signal
import subprocess
import sys

program, *launcher = sys.argv[1:]
ABSENT = "sluice: rank {} has waited … s in redistribute for 1 rank that has not entered it: rank 1 ({})"
EXPECTED = {
    "MPI_Finalize": [ABSENT.format(0, "no answer"), ABSENT.format(2, "no answer")],
    "Store::finish": [
        ABSENT.format(0, "in Store::finish"),
        "sluice: rank 1 has waited … s in Store::finish for 2 ranks that have not entered it: "
        "rank 0 (in redistribute), rank 2 (in redistribute)",
        ABSENT.format(2, "in Store::finish"),
    ],
    "all-to-all": [
        ABSENT.format(0, "in an all-to-all in place"),
        "sluice: rank 1 has waited … s in an all-to-all in place for 2 ranks that have not begun their exchange with it: "
        "rank 0, rank 2",
        ABSENT.format(2, "in an all-to-all in place"),
    ],
}


def lines_of(call, number):
    """The first lines of Sluice, in order. The job has not ended by then, and is ended here."""
    command = [os.environ["SLUICE_TEST_WATCHED"], *launcher, "-n", "3", program, call]
    lines = []
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as job:
        for line in job.stderr:
            if line.startswith("sluice: "):
                lines.append(re.sub(r"waited \d+ s", "waited … s", line.rstrip("\n")))
            else:
                print(line, end="")
            if len(lines) == number:
                break
        if job.poll() is not None:
            print("the job has ended by itself")
        os.killpg(job.pid, signal.SIGTERM)
    return sorted(lines)


failed = False
for call, expected in EXPECTED.items():
    lines = lines_of(call, len(expected))
    if lines != sorted(expected):
        failed = True
        print(f"{call}: expected", *sorted(expected), "but got", *lines, sep="\n  ")
sys.exit(1 if failed else 0)
