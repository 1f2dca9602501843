#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""needs.py SLUICE LAUNCHER RANKS PROGRAM BED MODE: what a report says that a node needs (needs.c), against the kernel's peaks.

The need follows from the peaks that the report shows: it is their sum without pages of files and without what ranks share. The job
ends on a node with the memory that the advice names. Each MODE has sentences of its own that are true of it.
"""
import json
import re
import sys
import tempfile

import advised_memory
import watched
from checks import check, conclude

sluice, launcher, ranks, program, bed, mode = sys.argv[1:]
LAUNCH = [*launcher.split(), "-n", ranks]
NEAR_KIB = 768  # the kernel adds the pages of each of a rank's threads in batches of 64, so two looks differ by some
LARGE_KIB = 96 << 10
AFTER_KIB = 2 << 10  # pages of Sluice that came after a peak before MPI_Init and count as its own
SIZE = r"([\d.]+ (?:KiB|MiB|GiB))"
UNITS = {"KiB": 1, "MiB": 1 << 10, "GiB": 1 << 20}
# What the summary says, and what it does not say.
SAYS = {"mapped": ([], []),
        "early": ([r"on rank \d before MPI_Init rank \d then"], []),
        "gather": ([r"in flight in MPI_Gatherv at gather.*in new memory for each call"], ["The program keeps it", "half as much"]),
        "rebalance": ([r"in flight in MPI_Alltoallv at rebalance"], []),
        "sizes": ([r"in flight in MPI_(Isend|Recv) at sizes.* on rank [1-9], [4-9]\d % of its peak"], [])}


def kib(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


def check_sum(said, node, kernel):
    """The need that is told, the parts that are told with it, and the report's own figures are one sum."""
    need = max(node["peaks_own_kib"] + node["peaks_shared_kib"], node["most_kib"])
    told = re.search(rf"needs up to {SIZE} on a node \({ranks} ranks at their peaks, {SIZE}(?:, less {SIZE} of libraries and files)?"
                     rf"(?:(?:, less| and) {SIZE} that they share)?\)", said)
    check(told, f"the need and its parts are told:\n{said}")
    if not told:
        return need
    has, peaks, files, shared = (kib(text) if text else 0 for text in told.groups())
    print(f"need {need} KiB; told {has:.0f} = {peaks:.0f} - {files:.0f} - {shared:.0f}; the kernel's peaks {sum(kernel.values())}")
    near = 0.006 * (has + peaks + files + shared)  # of each the last of three digits is rounded
    check(abs(has - (peaks - files - shared)) <= near and abs(has - need) <= near, "the need is the sum of what is told with it")
    check(abs(node["peaks_kib"] - sum(kernel.values())) <= NEAR_KIB * int(ranks), "the peaks are the kernel's")
    return need


def check_places(report):
    """No place has more in flight than the application ever had on that rank."""
    had = {}
    for rank in report["ranks"]:
        curve = rank["curve"]
        others = zip(*(curve[part] for part in ("mpi_private_kib", "mpi_shared_kib", "files_kib", "sluice_kib")))
        had[rank["rank"]] = max(all_of_it - sum(parts) for all_of_it, parts in zip(curve["resident_kib"], others))
    for site in report["sites"]:
        flight = site["in_flight_bytes"]
        check(flight["max"] >> 10 <= had[flight["max_rank"]] + NEAR_KIB,
              f"{site['function']} at {site['place']} has {flight['max'] >> 10} KiB in flight of {had[flight['max_rank']]} KiB")


def main():
    with tempfile.TemporaryDirectory() as folder:
        run = watched.run([*LAUNCH, sluice, "run", "--report", folder + "/report", program, mode, folder], capture_output=True, text=True)
        kernel = {int(line.split()[1]): int(line.split()[2]) for line in run.stdout.splitlines() if line.startswith("kernel ")}
        if run.returncode != 0 or len(kernel) != int(ranks):
            sys.exit(f"{mode} ended with {run.returncode}\n{run.stdout}{run.stderr}")
        report = json.load(open(folder + "/report/report.json", encoding="utf-8"))
        said = re.sub(r"\s+", " ", run.stderr.replace("sluice:", " "))
        print(run.stderr)
        need = check_sum(said, report["nodes"][0], kernel)
        if mode == "mapped":
            check(need <= sum(kernel.values()) - LARGE_KIB, f"the mapped file is no part of the need: {need} KiB of {kernel}")
        if mode == "early":
            check(report["highest"]["seen"] == "before MPI_Init", f"the peak was before MPI_Init: {report['highest']}")
            check(need >= int(ranks) * (LARGE_KIB - AFTER_KIB), f"each rank has held {LARGE_KIB} KiB: {need}")
        check_places(report)
        has, lacks = SAYS[mode]
        for pattern in has:
            check(re.search(pattern, said), f"the summary has “{pattern}”")
        for pattern in lacks:
            check(not re.search(pattern, said), f"the summary has no “{pattern}”")
        advised_memory.holds(run.stderr, bed, LAUNCH, sluice, [program, mode, folder])
    conclude()


main()
