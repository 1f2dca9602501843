#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""peaks.py SLUICE LAUNCHER RANKS PROGRAM BED PLUGIN MODE: what a report says of peaks, against what the kernel says.

    own     Sluice takes less than 2 MiB (MPICH: 2.125 MiB) of a rank's peak, with a report and without
    before  a peak before MPI_Init: it is that of the kernel, its parts add up, libraries are not the MPI's shared memory and
            are no part of what a node needs, and a node with the memory that the advice names holds the job
    alone   the plugin without the command beside it makes the report in rank 0
    exec    what the process held before it began its program is not the program's peak
"""
import json
import os
import shutil
import statistics
import sys
import tempfile

import advised_memory
import watched

sluice, launcher, ranks, program, bed, plugin, mode = sys.argv[1:]
LAUNCH = [*launcher.split(), "-n", ranks]
LAUNCHES = 5
NEAR_KIB = 768  # the kernel adds the pages of each of a rank's threads in batches of 64, so two looks differ by some
TAKEN_MIB = 96
# With MPICH it is 1.3 to 1.7 MiB, and up to 2.06 where another test that uses the library keeps it in the page cache as it is.
OWN_KIB = 2176 if "mpich" in launcher else 2048


def kernel_of(command):
    """For each rank the peak, the shared memory and the pages of files, in KiB; and what was said."""
    run = watched.run(command, capture_output=True, text=True)
    found = {int(line.split()[1]): [int(kib) for kib in line.split()[2:]]
             for line in run.stdout.splitlines() if line.startswith("kernel ")}
    if run.returncode != 0 or sorted(found) != list(range(int(ranks))):
        sys.exit(f"{command} ended with {run.returncode}\n{run.stdout}{run.stderr}")
    return found, run.stderr


def leave_page_cache(path):
    """The kernel maps blocks of the page cache whole, and those of a file that was just written may be large: up to 0.8 MiB
    more of the code are resident then than where the file is read as it is used."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def own_memory():
    peaks = {"plain": [], "run": [], "report": []}
    for _ in range(LAUNCHES):
        leave_page_cache(plugin)
        with tempfile.TemporaryDirectory() as folder:
            ways = {"plain": [], "run": [sluice, "run"], "report": [sluice, "run", "--report", folder]}
            for way, before in ways.items():
                found, said = kernel_of([*LAUNCH, *before, program, "hello"])
                peaks[way].append(found)
                if way != "plain" and "peak of a rank" not in said:
                    sys.exit(f"no summary was printed\n{said}")
            if not os.path.exists(folder + "/report.json"):
                sys.exit("the report is missing")
    wrong = 0
    for rank in range(int(ranks)):
        median = {way: statistics.median(run[rank][0] for run in runs) for way, runs in peaks.items()}
        for way in ("run", "report"):
            added = median[way] - median["plain"]
            print(f"rank {rank}, {way}: {added} KiB of {median[way]} KiB are Sluice's")
            wrong += added >= OWN_KIB
    if wrong:
        sys.exit(f"Sluice takes {OWN_KIB} KiB or more of a rank's peak")


def check_peak(report, kernel):
    """Returns the application's part of the highest peak."""
    high = report["highest"]
    sample = high["sample"]
    application = sample["resident_kib"] - sum(
        sample[part] for part in ("mpi_private_kib", "mpi_shared_kib", "files_kib", "sluice_kib"))
    true = kernel[high["rank"]][0]
    print(f"peak of rank {high['rank']}: {high['kib']} KiB reported, {true} by the kernel; application {application}")
    if high["kib"] != sample["resident_kib"] or application < 0:
        sys.exit(f"the parts do not add up: {high}")
    if report["peak_kib"]["max"] != high["kib"] or abs(high["kib"] - true) > NEAR_KIB:
        sys.exit("the peak is not that of the kernel")
    for rank, (_, shared, files) in kernel.items():
        last = report["ranks"][rank]["last"]
        print(f"rank {rank}: shared {last['mpi_shared_kib']} of {shared} KiB, files {last['files_kib']} of {files} KiB")
        if last["mpi_shared_kib"] > shared + NEAR_KIB or last["files_kib"] > files + NEAR_KIB:
            sys.exit("more shared memory or pages of files than the kernel knows of")
    return application


def check_node(report, kernel):
    node = report["nodes"][0]
    need = max(node["peaks_own_kib"] + node["peaks_shared_kib"], node["most_kib"])
    all_peaks = sum(peak for peak, _, _ in kernel.values())
    files = report["files_kib"]["sum"]
    print(f"node: {need} KiB of peaks that are {all_peaks} KiB together, with {files} KiB of libraries")
    if files == 0 or need > all_peaks - files + NEAR_KIB * int(ranks):
        sys.exit("libraries are counted in the need")
    if need < int(ranks) * (TAKEN_MIB - 2) << 10:
        sys.exit("the need is less than what the ranks have taken")


def alone():
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(plugin, folder)
        command = [*LAUNCH, "env", f"LD_PRELOAD={copy}", f"SLUICE_REPORT={folder}/report", program, "hello"]
        _, said = kernel_of(command)
        report = json.load(open(folder + "/report/report.json", encoding="utf-8"))
    if said.count("peak of a rank") != 1 or report["states"][2]["count"] != int(ranks):
        sys.exit(f"one summary of {ranks} ranks that ended was to be printed\n{said}")


def main():
    if mode in ("own", "alone"):
        own_memory() if mode == "own" else alone()
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [*LAUNCH, sluice, "run", "--report", folder, program, mode, str(TAKEN_MIB)]
        kernel, said = kernel_of(command)
        report = json.load(open(folder + "/report.json", encoding="utf-8"))
    application = check_peak(report, kernel)
    if mode == "exec":
        if report["peak_kib"]["max"] >= TAKEN_MIB << 10:
            sys.exit("the memory before exec was another program's")
        return
    if application < (TAKEN_MIB - 2) << 10:  # pages of files came after it
        sys.exit("the memory before MPI_Init was the application's")
    check_node(report, kernel)
    advised_memory.holds(said, bed, LAUNCH, sluice, [program, mode, str(TAKEN_MIB)])


main()
