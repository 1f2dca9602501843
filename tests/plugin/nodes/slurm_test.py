#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that Slurm starts: slurm_test.py openmpi|mpich BED PROGRAM SLUICE RUN…

Each srun runs in a cluster of its own (bench/beds/slurm) with two nodes, one with twice the memory of the other.
Debian's Open MPI is started by --mpi=pmix, its MPICH by --mpi=pmi2.
"""

import json
import os
import pathlib
import re
import sys
import tempfile

import watched

LARGE, SMALL = 4000, 2000  # MiB of memory of the two nodes
mpi, bed, program, *run = sys.argv[1:]
kind = {"openmpi": "pmix", "mpich": "pmi2"}[mpi]
scratch = tempfile.TemporaryDirectory()


def slurm(command):
    """Returns the output of the command on both streams; ends the test if there can be no such bed."""
    done = watched.run([bed, "--memory", f"{LARGE},{SMALL}", "--", *command], capture_output=True, text=True)
    said = done.stdout + done.stderr
    if done.returncode == 3 and "slurm bed: " in said:
        print("skipped: " + re.search("slurm bed: .*", said)[0])
        sys.exit(0)
    if done.returncode != 0:
        sys.exit(f"{command} ended with {done.returncode}:\n{said}")
    return said


def srun(nodes, ranks, command):
    return slurm(["srun", "--mpi=" + kind, "--mem=0", f"--nodes={nodes}", f"--ntasks={ranks}",
                  f"--ntasks-per-node={ranks // nodes}", *command])


def expect(right, what, said):
    if not right:
        sys.exit(f"{what}:\n{said}")


def ended_right(said, ranks):
    expect(f"{ranks} ranks, 0 numbers wrong" in said, "the program did not come to its end", said)


def served(said, ranks):
    """Expects every one of the program's three calls on every rank, and one report of them."""
    ended_right(said, ranks)
    expect(f"served {3 * ranks} in-place all-to-alls" in said, "not all calls were served", said)
    expect(said.count("Sluice report · ") == 1, "not one report", said)


def plain(said, ranks, line):
    ended_right(said, ranks)
    expect("served" not in said, "something was served", said)
    expect(line in said, f"no rank said '{line}'", said)


def limits(folder):
    """Returns the limit of each node, in MiB."""
    summary = json.loads((pathlib.Path(folder) / "report.json").read_text())
    nodes = summary.get("nodes") or summary["summary"]["nodes"]
    return sorted(node["limit_bytes"] >> 20 for node in nodes)


# On one node, the limit is the memory that Slurm gives the job.
folder = scratch.name + "/one"
said = srun(1, 2, ["--nodelist=node1", *run, "--report", folder, program])
served(said, 2)
expect(limits(folder) == [SMALL], f"limits {limits(folder)}", said)

# --memory is for the node; each of the two ranks gets half, though only Slurm knows how many ranks there are.
said = srun(2, 4, [*run, "--memory", "1GiB", "sh", "-c", "echo budget $SLUICE_MEMORY of $SLUICE_NODE_MEMORY"])
expect(said.count("budget 512MiB of 1GiB") == 4, "not an equal part for each rank", said)

# Two nodes of unequal memory.
folder = scratch.name + "/two"
said = srun(2, 4, [*run, "--report", folder, program])
expect(len(list(pathlib.Path(folder).glob("node-*.sluice"))) == 2, "not a file of records for each node", said)
if mpi == "openmpi":
    served(said, 4)
    expect(limits(folder) == [SMALL, LARGE], f"limits {limits(folder)}", said)
    choose = scratch.name + "/choose"
    pathlib.Path(choose).write_text('#!/bin/bash\n[ "$SLURMD_NODENAME" = node1 ] && exec "${@: -1}"\nexec "$@"\n')
    os.chmod(choose, 0o755)
    plain(srun(2, 4, [choose, *run, program]), 4, "watching only")
else:
    plain(said, 4, "watching only")

print(f"{mpi} by {kind}: all as expected")
