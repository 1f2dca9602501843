#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""killed.py SLUICE LAUNCHER PROGRAM BED: a job that the kernel kills for lack of memory, in a control group of its own: what
its report says against what the group counted.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import watched
from checks import check, conclude

sluice, launcher, program, bed = sys.argv[1:]
LIMIT_MIB = 192
NEAR_KIB = 768  # the plugin's own files: those of its code, too, are counted as its memory


def command(*words):
    done = watched.run([sluice, "report", *words], capture_output=True, text=True)
    check(done.returncode == 0, f"sluice report {words} ends with {done.returncode}: {done.stderr}")
    return done.stdout


def killed():
    """A job that was killed: what the bed says, the report's text, and its record."""
    with tempfile.TemporaryDirectory() as folder:
        outcome, records = folder + "/outcome.json", folder + "/report"
        job = watched.run([sys.executable, bed, "--memory", f"{LIMIT_MIB}MiB", "--report", outcome, "--", *launcher.split(), "-n", "2",
                           sluice, "run", "--report", records, program],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          # libraries of devices are larger than the limit
                          env=os.environ | {"HWLOC_COMPONENTS": "-opencl"})
        bed_says = json.load(open(outcome, encoding="utf-8"))
        if not bed_says["limit"].startswith("control group"):
            print("skipped: no memory control group can be made here")
            sys.exit(0)
        check(bed_says["oom_kills"] > 0, f"the kernel should have killed a rank: {bed_says}\n{job.stderr}")
        return bed_says, command(records), json.loads(command(records, "--json"))


def judge(bed_says, text, report):
    """Judges one report. True if it has the kernel's count of kills."""
    print(text)
    flat = " ".join(text.split())
    why = flat[flat.index(" why ") + 5:flat.index(" last seen rank ")]
    check(re.match(r"Rank 1 ran out of memory: the application's memory grew from [\d.]+ [KM]iB to [\d.]+ MiB since", why),
          "the cause comes first")
    kills = re.search(r"The kernel has killed (\d+) process(?:es)? for lack of memory", why)
    if kills:
        check(int(kills[1]) == bed_says["oom_kills"], f"the group counted {bed_says['oom_kills']} kills")
    check(all(float(share) <= 100 for share in re.findall(r"([\d.]+) %", flat)), "nothing is above 100 %")
    check(f"of {LIMIT_MIB} MiB" in why, "the limit of the node is named")
    # Pages of libraries are the page cache's, which another group may have paid for.
    files = max(rank["last"]["files_kib"] for rank in report["ranks"])
    node, highest = report["nodes"][0], report["highest"]
    held = node["last_own_kib"] + node["last_shared_kib"] - files
    most = bed_says["peak_usage_bytes"] >> 10
    print(f"{held} KiB held at the end, beside {files} of files; the group used {most} at most")
    check(held <= most + NEAR_KIB, "the ranks held no more than the group")
    own = highest["kib"] - highest["sample"]["files_kib"]
    check(highest["rank"] == 1 and LIMIT_MIB << 9 <= own <= most + NEAR_KIB, f"the peak is that of rank 1 in its group: {own} KiB")
    return kills is not None


if os.geteuid() != 0:
    print("skipped: only root can make a control group")
    sys.exit(0)
# The rank that lives on sees the count, unless the launcher ends it before its next look: MPICH's mostly does.
tries = 1 if "mpich" in launcher else 8
seen = any(judge(*killed()) for _ in range(tries))
check(seen or tries == 1, f"the kernel's count of kills is in none of {tries} reports")
conclude()
