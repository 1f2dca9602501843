#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""figures.py SLUICE LAUNCHER RANKS PROGRAM [ARGUMENT…]: runs the program under `sluice run --report` and compares the report
with what the program says of itself, exactly:

    flight FUNCTION PLACE BYTES         the most that a rank had in flight there
    object FUNCTION PLACE MADE LEFT     by each rank that says so
    kind KIND MADE LEFT                 of all places, by each rank that says so
    everywhere MADE LEFT CALLS          added up over more places than are kept, which make nothing but types: of these, and
                                        of them and the row of the others
    traffic FUNCTION PLACE OUT IN       by each rank that says so
    cell FROM TO BYTES                  of the matrix
    grown FUNCTION PLACE MOST           bytes of MPI's memory: no rank has more there, and no place more than its rank's peak
    pinned RANK LEFT AT_ONCE            KiB that are registered if nothing is given back, and if each message does both
"""
import collections
import json
import re
import sys
import tempfile

import watched
from checks import check, conclude, needs_shared_memory

sluice, launcher, ranks, program, *arguments = sys.argv[1:]
if program.endswith("known_growth"):  # windows that MPI allocates
    needs_shared_memory(256)


def reported():
    with tempfile.TemporaryDirectory() as folder:
        command = [*launcher.split(), "-n", ranks, sluice, "run", "--report", folder, program, *arguments]
        run = watched.run(command, capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"{command} ended with {run.returncode}\n{run.stdout}{run.stderr}")
        said = watched.run([sluice, "report", folder], capture_output=True, text=True).stdout
        return json.load(open(folder + "/report.json")), [line.split() for line in run.stdout.splitlines()], said


def sums_of(lines, word, keys):
    """{key: [figures of all ranks added up]} of the lines that begin with the word."""
    sums = {}
    for words in lines:
        if words[:1] == [word]:
            key, figures = tuple(words[1:1 + keys]), [int(text) for text in words[1 + keys:]]
            sums[key] = [a + b for a, b in zip(sums.get(key, [0] * len(figures)), figures)]
    return sums


def main():
    report, lines, said = reported()
    told = collections.Counter(words[0] for words in lines if words)
    check(sum(told[word] for word in ("flight", "object", "traffic")) > 5 or told["pinned"] or told["grown"] or told["everywhere"], f"the program tells its figures: {told}")

    def at(function, place):
        return [site for site in report["sites"]
                if site["function"] == function and site["place"].startswith((place + "+", place + "@", place + " "))]

    def compare(what, have, want):
        print(f"{what}: {have} reported, {want} true")
        check(have == want, f"{what}: {have} reported, {want} true")

    for words in lines:
        if words[:1] == ["flight"]:
            _, function, place, want = words
            have = max((site["in_flight_bytes"]["max"] for site in at(function, place)), default=0)
            compare(f"in flight in {function} at {place}", have, int(want))
    for words in lines:
        if words[:1] == ["grown"]:
            _, function, place, most = words
            check(at(function, place), f"{function} at {place} is in the report")
            have = max((site["grown_bytes"]["max"] for site in at(function, place)), default=0)
            print(f"growth in {function} at {place}: {have} reported, at most {most}")
            check(have <= int(most), f"growth in {function} at {place}: {have} reported, at most {most}")
    peak = max(rank["peak_kib"] for rank in report["ranks"]) * 1024
    for site in report["sites"]:
        check(site["grown_bytes"]["max"] <= peak, f"{site['function']} at {site['place']} grew by more than the peak")
    for (function, place), want in sums_of(lines, "object", 2).items():
        sites = at(function, place)
        compare(f"objects of {function} at {place}",
                [sum(site["made"] for site in sites), sum(site["left"]["sum"] for site in sites)], want)
    for (kind,), want in sums_of(lines, "kind", 1).items():
        found = [row for row in report["objects"] if row["kind"] == kind]
        compare(f"all {kind}s", [sum(row[key]["sum"] for row in found) for key in ("made", "left")], want)
        if want[1] > 0:
            how_many = f"{found[0]['left']['max']} of {found[0]['made_there']} {kind.replace('_', ' ')}"
            check(how_many in re.sub(r"\s+", " ", said), f"the summary says “{how_many}”:\n{said}")
    for want in sums_of(lines, "everywhere", 0).values():
        kept = [site for site in report["sites"] if site["function"] == "MPI_Type_contiguous"]
        others = [site for site in report["sites"] if site["function"] == "other calls"]
        check(100 < len(kept) < 256 and len(others) == 1, f"{len(kept)} places are kept, and {len(others)} row has the others")
        made_and_left = [sum(site["made"] for site in kept + others), sum(site["left"]["sum"] for site in kept + others)]
        compare("types of all places", made_and_left, want[:2])
        calls = sum(site["calls"] for site in kept)
        check(calls == sum(site["made"] for site in kept) and 0 < want[2] - calls <= others[0]["calls"],
              f"each call at the places that are kept made one, {calls} of {want[2]}")
    for (function, place), want in sums_of(lines, "traffic", 2).items():
        sites = at(function, place)
        compare(f"bytes of {function} at {place}", [sum(site[key] for site in sites) for key in ("bytes_out", "bytes_in")], want)
    matrix = report["matrix"]
    cells = {(str(a), str(b)): n for a, b, n in zip(matrix["from"], matrix["to"], matrix["bytes"])}
    for pair, (want,) in sums_of(lines, "cell", 2).items():
        compare(f"bytes from {pair[0]} to {pair[1]}", cells.get(pair, 0), want)
    curves = {rank["rank"]: rank["curve"] for rank in report["ranks"]}
    for (rank,), want in sums_of(lines, "pinned", 1).items():
        have = [max(curves[int(rank)][name]) for name in ("left_pinned_kib", "used_at_once_kib")]
        compare(f"registered by rank {rank} if nothing is given back, and if each message registers", have, want)
    for rank in report["ranks"]:
        compare(f"in flight on rank {rank['rank']} at the end", rank["last"]["in_flight_kib"], 0)
    conclude()


main()
