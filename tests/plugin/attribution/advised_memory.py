# SPDX-License-Identifier: BSD-3-Clause
"""The --memory that the advice of a report names holds the job: the job is run again on a node of that size."""
import os
import re
import sys

import watched


def holds(said, bed, launch, sluice, program):
    """`said`: what the job printed; `launch`: the launcher with its arguments; `program`: with its own."""
    mib = re.search(r"--memory\s+(?:sluice:\s+)?(\d+)MiB", said)
    if not mib:
        sys.exit(f"no --memory in the advice\n{said}")
    if os.geteuid() != 0:
        print("not run again: only root can make a node of that memory")
        return
    memory = f"{mib[1]}MiB"
    command = [sys.executable, bed, "--memory", memory, "--", *launch, sluice, "run", "--memory", memory, *program]
    run = watched.run(command, capture_output=True, text=True)
    print(f"with {memory}: exit code {run.returncode}")
    if run.returncode != 0:
        sys.exit(f"--memory {memory} does not hold the job\n{run.stdout}{run.stderr}")
