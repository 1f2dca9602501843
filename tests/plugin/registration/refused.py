#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that registration cannot serve run as without it, and one line says why: refused.py SLUICE LAUNCHER PROGRAM OTHER_UCX

PROGRAM is periodic, OTHER_UCX a library that says it is a version of UCX that was not tested.
"""
import os
import re
import sys

import watched
from checks import check, conclude

sluice, launcher, program, other_ucx = sys.argv[1:]
ROUNDS, BUFFERS, BYTES = 3, 2, 1 << 17
HAS_DEVICE = os.path.isdir("/sys/class/infiniband") and os.listdir("/sys/class/infiniband")


def run(why, mode="ucx", ranks=2, words=(), before=()):
    done = watched.run([*launcher.split(), "-n", str(ranks), sluice, "run", "--registration", mode, *before, program,
                        str(ROUNDS), str(BUFFERS), str(BYTES), "0", *words], capture_output=True, text=True)
    said = re.findall(r"^sluice: +registration: (.*)$", done.stderr, re.MULTILINE)
    check(done.returncode == 0, f"{mode} {words}: ended with {done.returncode}: {done.stderr}")
    check(len(re.findall(r"^rank \d+ wrong 0 ", done.stdout, re.MULTILINE)) == min(ranks, 2), f"no byte is wrong: {done.stdout}")
    check(len(said) == 1 and re.fullmatch(why, said[0]), f"{mode} {words}: expected '{why}' once, and it says {said}")


if HAS_DEVICE:
    print("left out: this machine has a device that registers memory")
else:
    run("off, because (the MPI does not use UCX|the MPI sends its messages without UCX|the transports of UCX keep no memory pinned here)")
run("off, because the program has MPI_THREAD_MULTIPLE", words=["multiple"])
run(r"off, because UCX 1\.99 was not tested, only 1\.13",
    before=["sh", "-c", f'LD_PRELOAD="$LD_PRELOAD:{other_ucx}" exec "$@"', "sh"])  # Sluice asks what is loaded after it
if os.cpu_count() <= 16:
    run("off, because the ranks of this node use all its processors", mode="auto", ranks=max(2, os.cpu_count()))
else:
    print("left out: a job of", os.cpu_count(), "ranks, as many as processors")
conclude()
