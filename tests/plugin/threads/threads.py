#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""threads.py LAYER LAUNCHER RANKS PROGRAM ROUNDS: runs the program under LAYER ("…/sluice run", or a plugin that is
preloaded) with --report and compares the report with the program's own counts: every call, every byte and every
message must agree exactly.
"""
import collections
import json
import sys
import tempfile

import watched

layer, launcher, ranks, program, rounds = sys.argv[1:]


def command(folder):
    if layer.endswith(".so"):
        between = ["env", f"LD_PRELOAD={watched.preload(layer)}", f"SLUICE_REPORT={folder}"]
    else:
        between = [*layer.split(), "--report", folder]
    return [*launcher.split(), "-n", ranks, *between, program, rounds]


def truths(lines):
    """Returns {function: [calls, bytes out, bytes in]} and {(from, to): [messages, bytes]}, summed over the ranks."""
    functions, messages = collections.defaultdict(lambda: [0, 0, 0]), {}
    for words in (line.split() for line in lines):
        if words[:1] == ["truth"]:
            functions[words[1]] = [a + int(b) for a, b in zip(functions[words[1]], words[2:])]
        if words[:1] == ["message"]:
            messages[int(words[1]), int(words[2])] = [int(word) for word in words[3:]]
    return functions, messages


def main():
    with tempfile.TemporaryDirectory() as folder:
        run = watched.run(command(folder), capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"{command(folder)} ended with {run.returncode}\n{run.stdout}{run.stderr}")
        if "WARNING: ThreadSanitizer" in run.stderr:
            sys.exit(run.stderr)
        if run.stdout.startswith("skipped: "):
            return print(run.stdout)
        report = json.load(open(folder + "/report.json"))
    functions, messages = truths(run.stdout.splitlines())
    wrong = []

    def compare(what, reported, true):
        print(f"{what}: {reported} reported, {true} true")
        if reported != true:
            wrong.append(what)

    if len(messages) != int(ranks) or functions["MPI_Isend"][0] == 0:
        sys.exit(f"the program told nothing\n{run.stdout}{run.stderr}")
    for function, true in functions.items():
        sites = [site for site in report["sites"] if site["function"] == function]
        compare(function, [sum(site[key] for site in sites) for key in ("calls", "bytes_out", "bytes_in")], true)
        # Each call that moves bytes is counted in the histogram; one of the five sizes is zero.
        if function == "MPI_Isend":
            compare("sizes of " + function, sum(sum(size) for site in sites for size in [site["sizes"]]),
                    true[0] - sum(1 for lane in range(4) for r in range(int(rounds)) if (r + lane) % 5 == 0) * int(ranks))
    matrix = report["matrix"]
    cells = {(a, b): [n, bytes_] for a, b, n, bytes_ in
             zip(matrix["from"], matrix["to"], matrix["messages"], matrix["bytes"])}
    for pair, true in messages.items():
        # Empty messages are not counted in the matrix.
        compare(f"bytes {pair}", cells.get(pair, [0, 0])[1], true[1])
    for rank in report["ranks"]:
        # Every request was completed or freed, so nothing may be left in flight.
        compare(f"in flight on rank {rank['rank']}, KiB", rank["last"]["in_flight_kib"], 0)
    if wrong:
        sys.exit("not as it was: " + ", ".join(wrong))


main()
