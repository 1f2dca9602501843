#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""check.py LAUNCHER RANKS PLUGIN RIGHT WRONG SHORT: runs programs under --check. Wrong calls are refused on every rank, with
the place of each call, and no rank hangs; right calls pass. A rank whose
allocations fail (SHORT) lets no other wait.
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

import watched

launcher, ranks, plugin, right, wrong, short = sys.argv[1], int(sys.argv[2]), *sys.argv[3:]
faults = 0


def run(program, *arguments, **settings):
    environment = {**os.environ, "SLUICE_CHECK": "collectives", "SLUICE_WATCH": "off", **settings}
    command = shlex.split(launcher) + ["-n", str(ranks), "env", f"LD_PRELOAD={watched.preload(plugin)}", program, *arguments]
    return watched.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def expect(condition, what, done):
    global faults
    if not condition:
        faults += 1
        print(f"{what}\n  code {done.returncode}\n  {done.stdout}\n  {done.stderr}")


def told_on_all(done):
    """Returns each rank's line about the call, without the rank."""
    return dict(re.findall(r"sluice: rank (\d+): (a collective call differs .*)", done.stderr))


FUNCTIONS = {"root": "MPI_Bcast, root", "count": "MPI_Allreduce, 9 x MPI_INT", "type": "MPI_Bcast, root 0, 8 x MPI_FLOAT",
             "function": "MPI_Barrier", "gather": "MPI_Gather,", "allgather": "MPI_Allgather, 3 x MPI_INT to 2 x MPI_INT",
             "gatherv": "MPI_Gatherv, root 0, which expects 2 x MPI_INT of rank", "scatterv": "MPI_Scatterv,",
             "allgatherv": "MPI_Allgatherv,", "reduce_scatter": "MPI_Reduce_scatter,",
             "alltoallv": "MPI_Alltoallv, which expects", "alltoallw": "MPI_Alltoallw, which expects"}
for name, function in FUNCTIONS.items():
    done = run(wrong, name)
    told = told_on_all(done)
    expect(done.returncode == 0, f"{name}: the program did not end well", done)
    expect(sorted(map(int, told)) == list(range(ranks)), f"{name}: not told on all ranks", done)
    expect(len(set(told.values())) == 1, f"{name}: not told alike on all ranks", done)
    expect(all(function in text and "call+0x" in text for text in told.values()),
           f"{name}: the message lacks '{function}' or a place", done)
    expect(done.stdout.count("refused, then right") == ranks and "not refused" not in done.stdout,
           f"{name}: not refused on all ranks, or the next call was wrong", done)

done = run(wrong, "function", "fatal")
expect(done.returncode != 0, "function: MPI_ERRORS_ARE_FATAL did not end the job", done)
expect("MPI_Barrier" in done.stderr and "MPI_Bcast" in done.stderr, "function: the calls were not named", done)

done = run(right)
expect(done.returncode == 0 and done.stdout.count(": 0 wrong") == ranks, "right calls: not right", done)
expect("differs" not in done.stderr, "right calls: a false alarm", done)
# A counter that is 0 is left out: no call was on a communicator without an id.
counted = re.search(r"checks of collectives: (\d+) calls compared$", done.stderr, re.MULTILINE)
expect(counted is not None and int(counted.group(1)) >= 9 * ranks, "right calls: not all were checked", done)

done = run(short)
expect(done.returncode == 0 and done.stdout.count(": 0 wrong") == ranks, "short of memory: not right", done)
expect("was checked in part, because there was no memory" in done.stderr, "short of memory: not said", done)

with tempfile.TemporaryDirectory() as folder:
    done = run(right, SLUICE_WATCH="on", SLUICE_REPORT=folder)
    expect(done.returncode == 0, "right calls with a report: not right", done)
    counters = json.load(open(folder + "/report.json"))["counters"]
compared = [row["count"] for row in counters
            if (row["service"], row["what"]) == ("checks of collectives", "calls compared")]
expect(len(compared) == 1 and compared[0]["ranks"] == ranks and compared[0]["min"] >= 9,
       f"right calls: the counters of report.json are {counters}", done)
sys.exit(1 if faults else 0)
