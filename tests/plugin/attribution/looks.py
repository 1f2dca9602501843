#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""looks.py SLUICE LAUNCHER RANKS PROGRAM MODE: runs the program looks, which counts the pages that the kernel is asked about, and
looks at its report: a buffer that was not looked at is not in flight.
"""
import json
import sys
import tempfile

import watched

sluice, launcher, ranks, program, mode = sys.argv[1:]
MOST_IN_FLIGHT_KIB = 12000 if mode == "many" else 64  # a page of each of 3000 requests

with tempfile.TemporaryDirectory() as folder:
    run = watched.run([*launcher.split(), "-n", ranks, sluice, "run", "--report", folder, program, mode],
                      capture_output=True, text=True)
    print(run.stdout)
    if run.returncode != 0:
        sys.exit(f"ended with {run.returncode}\n{run.stderr}")
    report = json.load(open(folder + "/report.json"))
in_flight = {site["function"]: site["in_flight_bytes"]["max"] // 1024 for site in report["sites"]}
print("KiB in flight:", in_flight)
sys.exit(f"more than {MOST_IN_FLIGHT_KIB} KiB in flight" if max(in_flight.values()) > MOST_IN_FLIGHT_KIB else 0)
