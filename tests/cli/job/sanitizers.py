#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""sanitizers.py LAUNCHER SLUICE PROGRAM: two ranks of PROGRAM, which is built with a sanitizer, do under `sluice run` what
they do without it, and there is a summary.
"""

import os
import shlex
import subprocess
import sys

import watched

launcher, sluice, program = sys.argv[1:]
# MPI leaks. A library that the tests preload would stand before the sanitizer in the run without Sluice.
environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0", LSAN_OPTIONS="detect_leaks=0")
environment.pop("LD_PRELOAD", None)


def run(*before):
    command = [*shlex.split(launcher), "-n", "2", *before, program]
    ended = watched.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    print(shlex.join(command), "\n", ended.returncode, "\n", ended.stdout, ended.stderr)
    return ended


plain = run()
if plain.returncode != 0:
    print("skipped: with this MPI the sanitizer ends a correct program")
    sys.exit(0)
for options in [], ["--overlap", "auto"], ["--watch", "off"]:
    ended = run(sluice, "run", *options)
    if (ended.returncode, ended.stdout) != (plain.returncode, plain.stdout):
        # With overlap the MPI uses locks, and the thread sanitizer has reports about their order in Open MPI.
        if "auto" in options and "lock-order-inversion" in ended.stderr and "libsluice" not in ended.stderr:
            continue
        sys.exit("under sluice run it ends in another way")
    if "Sanitizer" in ended.stderr or ("--watch" not in options and "sluice: Sluice report" not in ended.stderr):
        sys.exit("there is a report of the sanitizer, or no summary")
