#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A job of three ranks hangs, because rank 1 is in another call: each rank that waits in a call of Sluice says so.

    stuck_test.py PROGRAM LAUNCHER...
"""
import os
import re
import subprocess
import sys

import watched

program, *launcher = sys.argv[1:]
os.environ["SLUICE_TEST_ASLEEP_SECONDS"] = "10"  # ranks that wait are awake, and use more than a twentieth of it
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
    watch = watched.Watch()
    lines = []
    with subprocess.Popen([*launcher, "-n", "3", program, call], stderr=subprocess.PIPE, text=True,
                          env=watch.environment) as job:
        def read():
            while len(lines) < number and (line := job.stderr.readline()):
                if line.startswith("sluice: "):
                    lines.append(re.sub(r"waited \d+ s", "waited … s", line.rstrip("\n")))
                else:
                    print(line, end="")

        watch.wait(job, read)
        if job.poll() is not None:
            print("the job has ended by itself")
        job.terminate()
        watch.end(job)
    return sorted(lines)


failed = False
for call, expected in EXPECTED.items():
    lines = lines_of(call, len(expected))
    if lines != sorted(expected):
        failed = True
        print(f"{call}: expected", *sorted(expected), "but got", *lines, sep="\n  ")
sys.exit(1 if failed else 0)
