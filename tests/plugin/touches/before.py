#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""before.py LAUNCHER PLUGIN PROGRAM: what the plugin of the tests says that calls touch is what the program passes; and if
the service cannot be prepared on one rank, it starts on none."""
import os
import re
import sys

import watched

launcher, plugin, program = sys.argv[1:]


def run(*arguments, **environment):
    command = [*launcher.split(), "-n", "2", "env", f"LD_PRELOAD={watched.preload(plugin)}",
               *[f"{name}={value}" for name, value in environment.items()], program, *arguments]
    done = watched.run(command, capture_output=True, text=True, env=os.environ)
    print(done.stdout, done.stderr, sep="")
    return done


def main():
    wrong = []
    plain = run()
    compared = [int(number) for number in re.findall(r"rank \d: (\d+) lines compared, 0 wrong", plain.stdout)]
    if plain.returncode != 0 or len(compared) != 2 or min(compared) < 60:
        wrong.append("what calls touch")
    if len(re.findall(r"sluice: \d+ calls were recorded at level 2 of MPI", plain.stderr)) != 2:
        wrong.append("the service has not got MPI_THREAD_SERIALIZED")
    for rank in (0, 1):
        refused = run("refused", SLUICE_TEST_REFUSES=rank)
        if refused.returncode != 0 or "calls were recorded" in refused.stderr:
            wrong.append(f"refused by rank {rank}")
        if refused.stderr.count("sluice: recorded calls: this rank cannot") != 1:
            wrong.append(f"the reason of rank {rank} is not said once")
    print(f"{len(wrong)} wrong:", *wrong, sep="\n")
    sys.exit(1 if wrong else 0)


main()
