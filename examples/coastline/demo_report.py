#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tells the results of the demo in words. `limit FOLDER PERCENT` prints the limit for the runs that follow, `table
FOLDER` the results.
"""

import os
import statistics
import sys

from demo_run import MIB, Run


def limit(folder, percent):
    room = Run(os.path.join(folder, "unlimited")).first("room")
    print(room["held"] + room["data"] * 100 // int(percent))


def seconds(run, way):
    times = [event["seconds"] for event in run.all("moved", way=way)]
    return f"{statistics.median(times):.2f} s ({min(times):.2f} to {max(times):.2f})"


def end_of(run):
    if run.survived():
        return f"runs to the end, moved in {run.first('moved')['seconds']:.2f} s, {run.first('checked')['points']:,.0f} points checked"
    kills = run.outcome["oom_kills"]
    if kills:
        return f"killed: the kernel ended {kills} of its ranks for lack of memory"
    return f"dies: exit status {run.outcome['status']}, " + ("memory could not be allocated" if run.outcome["status"] == 12
                                                           else f"see {run.folder}/errors.txt")


def table(folder):
    compare, unlimited, alltoallv, sluice = (Run(os.path.join(folder, name))
                                             for name in ("compare", "unlimited", "alltoallv", "sluice"))
    names = {"alltoallv": "pack, MPI_Alltoallv, unpack", "sluice": "Sluice, in place"}
    ratios = [ours["seconds"] / theirs["seconds"]
              for ours, theirs in zip(compare.all("moved", way="sluice"), compare.all("moved", way="alltoallv"))]
    room = sluice.first("room")
    print(f"{room['data'] / MIB:.1f} MiB of blocks, {compare.all('moved')[0]['bytes_moved'] / MIB:.1f} MiB of them bound for another rank")
    print("\nwithout limit (median of the runs, fastest to slowest)")
    for way, name in names.items():
        moved = compare.all("moved", way=way)
        extra = max(event["extra_bytes"] for event in moved) / MIB
        grown = max(event["extra_resident"] for event in moved) / MIB
        print(f"    {name:29} {seconds(compare, way):26} extra memory of a rank: {extra:.2f} MiB counted, {grown:.2f} MiB resident")
    print(f"    time, Sluice / the other      {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}), pair by pair")
    print(f"    most that pack, MPI_Alltoallv, unpack held at a time: {max(unlimited.held):.1f} MiB")
    print(f"\nunder a limit of {room['limit'] / MIB:.1f} MiB ({room['source']}); {room['held'] / MIB:.1f} MiB are held after MPI_Init, "
          f"the data fill {100 * sluice.fill():.1f} % of the rest")
    for run, way in ((alltoallv, "alltoallv"), (sluice, "sluice")):
        print(f"    {names[way]:29} {end_of(run)}; held at most {max(run.held):.1f} MiB")
    wrong = []
    if sluice.fill() <= 0.8:
        wrong.append("the data do not fill 80 % of the memory")
    if not sluice.survived():
        wrong.append("Sluice did not run to the end: " + os.path.join(sluice.folder, "errors.txt"))
    if alltoallv.first("moved"):
        wrong.append("pack, MPI_Alltoallv, unpack did survive")
    if not alltoallv.first("move"):
        wrong.append("pack, MPI_Alltoallv, unpack died before it began: " + os.path.join(alltoallv.folder, "errors.txt"))
    for text in wrong:
        print(f"demo: {text}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit({"limit": limit, "table": table}[sys.argv[1]](*sys.argv[2:]))
