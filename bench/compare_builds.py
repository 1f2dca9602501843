#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares a benchmark of two builds: launches it with each of them in turns, and prints old against new for every row.

    compare_builds.py [--turns N] OLD NEW BENCH [OPTION...]     OLD, NEW: commands `sluice` of the two builds

    compare_builds.py old/build/bin/sluice build/bin/sluice overhead --mpi openmpi --launches 1 --pairs 0
    compare_builds.py old/build/bin/sluice build/bin/sluice redistribute --mpi openmpi --ranks 2 --case random

Rows that tell what watching adds (overhead) are compared by their difference in nanoseconds for each call, rows with the
seconds of a method by the ratio of new to old. Each line has the median over the turns and its 95 % interval by order statistics; the last
line has the median of all rows.
"""
import argparse
import json
import math
import statistics
import subprocess
import sys

CALLS = {"pingpong": 2, "halo": 5, "stencil": 5, "allreduce": 1}  # calls on the critical path of one exchange
BOUND_NS = 3.0  # for each call
NAMES = ("case", "mpi", "ranks", "bytes", "block_bytes", "blocks", "base_mib", "tokens", "method", "ratio")


def rows_of(command, bench, options):
    done = subprocess.run([command, "bench", bench, "--json", *options], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command} bench {bench} ended with code {done.returncode}")
    rows = {}
    for line in done.stdout.splitlines():
        row = json.loads(line)
        name = " ".join(str(row[key]) for key in NAMES if key in row)
        if "seconds_added" in row:
            rows[name] = row["seconds_added"] / CALLS[row["case"]] * 1e9
        elif "seconds" in row:
            rows[name] = row["seconds"]["median"]
    return rows


def interval(values):
    """The median and its interval of at least 95 % by order statistics; of fewer than six values the extremes."""
    ordered = sorted(values)
    count = len(ordered)
    outside, total = 0, 0.0
    while outside + 1 < count / 2:
        total += math.comb(count, outside) / 2**count
        if 2 * total > 0.05:
            break
        outside += 1
    low = max(outside - 1, 0)
    return statistics.median(ordered), ordered[low], ordered[count - 1 - low]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--turns", type=int, default=7, help="launches of each build (7)")
    options.add_argument("old")
    options.add_argument("new")
    options.add_argument("bench")
    options.add_argument("options", nargs=argparse.REMAINDER)
    chosen = options.parse_args()
    by_difference = chosen.bench == "overhead"
    compared = {}
    for turn in range(chosen.turns):
        in_turns = (chosen.old, chosen.new) if turn % 2 == 0 else (chosen.new, chosen.old)
        rows = {command: rows_of(command, chosen.bench, chosen.options) for command in in_turns}
        for name in rows[chosen.old].keys() & rows[chosen.new].keys():
            old, new = rows[chosen.old][name], rows[chosen.new][name]
            compared.setdefault(name, []).append(new - old if by_difference else new / old)
    if not compared:
        sys.exit("the two builds have no row in common")
    medians = []
    for name in sorted(compared):
        median, low, high = interval(compared[name])
        medians.append(median)
        if by_difference:
            good = median <= BOUND_NS or low <= 0 <= high
            print(f"{name:60} {median:+9.1f} ns a call  [{low:+.1f}, {high:+.1f}]{'' if good else '  ABOVE THE BOUND'}")
        else:
            print(f"{name:60} {median:6.3f}  [{low:.3f}, {high:.3f}]")
    unit = " ns a call" if by_difference else ""
    print(f"{'median of ' + str(len(medians)) + ' rows':60} {statistics.median(medians):.3f}{unit}")


if __name__ == "__main__":
    main()
