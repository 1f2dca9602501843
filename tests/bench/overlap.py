#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""overlap.py SLUICE MPI: checks what `sluice bench overlap` prints: rows, counts and reasons, but no seconds."""
import json
import os
import re
import sys

import watched

sluice, mpi = sys.argv[1:]
SIZES = [65536, 1000003]
CASES = {"independent": "by_hand", "light": "strips", "heavy": "strips"}
PAIRS = 2


def command(*arguments):
    return [sluice, "bench", "overlap", "--mpi", mpi, *arguments]


def run(*arguments, before=()):
    return watched.run([*before, *command(*arguments)], capture_output=True, text=True)


def rows(*arguments):
    return [json.loads(line) for line in watched.lines_of(command("--json", *arguments))]


def check(what, right):
    if not right:
        sys.exit(what)


def every_cell_has_its_rows(words, bed, *more):
    printed = rows("--bed", bed, "--overlap", ",".join(words), "--bytes", ",".join(map(str, SIZES)), "--pairs", str(PAIRS),
                   "--warm-up", "2", "--latency", "3", "--idle", "0.2", *more)
    for row in printed:
        check(f"{row}", row["bench"] == "overlap" and row["mpi"] == mpi and row["bed"] == bed)
    for case, hand in CASES.items():
        for size in SIZES:
            for word in words:
                mine = [row for row in printed if row["case"] == case and row["bytes"] == size and row["overlap"] == word]
                methods = {row["method"]: row for row in mine if "method" in row}
                check(f"{case} {size} {word}: {sorted(methods)}",
                      set(methods) == {"blocking", "irecv", hand, "sluice", "sluice_irecv", "compute", "transfer"})
                for row in methods.values():
                    check(f"{row}", row["rounds"] == PAIRS and row["outcome"] == "ok")
                    check(f"{row}", 0 < row["seconds"]["min"] <= row["seconds"]["median"] <= row["seconds"]["max"])
                ratios = {row["ratio"]: row for row in mine if "ratio" in row}
                expected = {"sluice/blocking", "irecv/blocking", hand + "/blocking", "sluice/" + hand,
                            "sluice_irecv/blocking", "sluice_irecv/" + hand,
                            "blocking/blocking_plain", f"{hand}/{hand}_plain"}
                check(f"{case} {size} {word}: {sorted(ratios)}", set(ratios) == expected)
                check("pairs", ratios["sluice/blocking"]["pairs"] == PAIRS)
    all_words = {"none", "off", *words}
    latency = {row["overlap"]: row for row in printed if row["case"] == "latency"}
    check(f"latency of {sorted(latency)}", set(latency) == all_words)
    check("pairs of latency", all(row["pairs"] == 3 for row in latency.values()))
    idle = {row["overlap"]: row for row in printed if row["case"] == "idle"}
    check(f"wake-ups of {sorted(idle)}", set(idle) == all_words)
    check(f"{idle}", "sluice-helper" in idle["off"]["wake_ups"] and "sluice-helper" not in idle["none"]["wake_ups"])
    delayed = {row["overlap"]: row["delayed"] for row in printed if row["case"] == "delayed"}
    check(f"{delayed}", set(delayed) == {"none", *words} and all(0 <= part < 1 for part in delayed.values()))
    return printed


def receives_return_early(printed):
    """Under `on` the larger message of each case is deferred by both methods, in the warm-up and in each pair: otherwise nothing was measured."""
    doctor = watched.run([sluice, "doctor", "--json"], capture_output=True, text=True)
    findings = [json.loads(line) for line in doctor.stdout.splitlines() if line.startswith("{")]
    if [finding["health"] for finding in findings if finding["what"] == "guarded pages"] != ["ok"]:
        print("skipped: this machine guards no pages (sluice doctor), so no receive returns early")
        return
    counted = [row["line"] for row in printed if row["case"] == "said" and row["overlap"] == "on" and row["line"].startswith("overlap: ")]
    if mpi == "mpich":
        # Ranks of MPICH on several nodes do not come to know each other, so no summary is gathered that could count them.
        check(f"a summary of MPICH over nodes, which can be checked now: {counted}", counted == [])
        return
    early = sum(int(number) for line in counted
                for number in re.findall(r"(\d+) (?:receives that returned early|nonblocking receives that came meanwhile)", line))
    check(f"returned early: {counted}", early == 2 * len(CASES) * (2 + PAIRS))


def a_bed_that_cannot_be_made_is_refused():
    before = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] if os.geteuid() == 0 else []
    ended = run("--bed", "cluster", before=before)
    check(f"without root: {ended}", ended.returncode == 1 and ended.stdout == "" and "needs root" in ended.stderr)


def wrong_use_is_refused(words, complaint):
    ended = run(*words)
    check(f"{words}: {ended}", ended.returncode == 2 and complaint in ended.stderr)


every_cell_has_its_rows(["off", "auto"], "local")
if os.geteuid() == 0 and mpi == "openmpi":  # over these wires Debian's MPICH now and then never ends, without Sluice, too
    receives_return_early(every_cell_has_its_rows(["on", "auto"], "cluster", "--rate", "10000"))
a_bed_that_cannot_be_made_is_refused()
wrong_use_is_refused(["--rate", "fast"], "--rate wants Mbit/s")
wrong_use_is_refused(["--overlap", "maybe"], "maybe")
