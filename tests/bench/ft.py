#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ft.py SLUICE MPI: checks what `sluice bench ft` prints: forms, bytes and faults, but no seconds. (The program itself checks the
sums.)"""
import json
import sys

import watched

sluice, mpi = sys.argv[1:]
MIB = 1 << 20
RANKS = 2


def rows(*arguments):
    command = [sluice, "bench", "ft", "--mpi", mpi, "--json", "--ranks", str(RANKS), *arguments]
    return [json.loads(line) for line in watched.lines_of(command)]


def check(what, right):
    if not right:
        sys.exit(what)


def every_form_has_its_rows():
    printed = rows("--case", "W", "--node-mib", "0", "--tasks", "4", "--tokens", "1,4")
    forms = [(row["method"], row.get("tasks"), row.get("tokens")) for row in printed]
    check(f"{forms}", forms == [("plain", None, None), ("plain_run", None, None), ("in_place", None, None), ("streamed", None, None),
                                ("tasks_normal", 4, None), ("tasks", 4, 1), ("tasks", 4, 4)])
    by_form = dict(zip(forms, printed))
    for row in printed:
        check(f"{row}", row["outcome"] == "ok" and row["bed"] == "local" and row["nodes"] == 1 and row["base_mib"] == 8 / RANKS)
    # 8 MiB between 8 tasks: a part has 128 KiB. As many as there are tokens come, and as many are packed to leave.
    part = 8 / 8 / 8
    for tokens in (1, 4):
        held = by_form[("tasks", 4, tokens)]["message_mib"]
        check(f"{tokens} tokens hold {held} MiB", 0 < held <= 2 * tokens * part)
    everything = by_form[("tasks_normal", 4, None)]["message_mib"]
    check(f"everything at once holds {everything} MiB", everything > 2 * 2 * 4 * part)


def launches_take_turns_and_have_ratios():
    printed = rows("--case", "S", "--node-mib", "0", "--form", "plain,in_place,streamed", "--pairs", "2")
    launches = [row["method"] for row in printed if "method" in row]
    check(f"{launches}", launches == ["plain", "in_place", "streamed"] * 2)
    ratios = printed[len(launches):]
    check(f"{ratios}", [row["ratio"] for row in ratios] == ["in_place/plain", "streamed/plain"])
    for row in ratios:
        time = row["time"]
        check(f"{row}", row["pairs"] == 2 and 0 < time["min"] <= time["median"] <= time["max"])


def two_small_nodes_have_a_wire_and_rows():
    limited = ["--case", "W", "--nodes", "2", "--node-mib", "200", "--form", "plain,in_place,streamed", "--swap-mib", "64"]
    command = [sluice, "bench", "ft", "--mpi", mpi, "--json", "--ranks", str(RANKS), *limited]
    ended = watched.run(command, capture_output=True, text=True)
    if "cluster bed:" in ended.stderr:
        print("skipped: no two nodes can be made here: " + ended.stderr.strip().splitlines()[-1])
        return
    printed = [json.loads(line) for line in ended.stdout.splitlines()]
    check(f"{ended.stderr}", ended.returncode == 0 and len(printed) == 3)
    for row in printed:
        check(f"{row}", row["outcome"] == "ok" and row["bed"] == "limited_cluster" and row["nodes"] == 2)
        check(f"{row}", row["node_bytes"] == 200 * MIB and 0 < row["node_peak_bytes"] <= 200 * MIB)


every_form_has_its_rows()
launches_take_turns_and_have_ratios()
if mpi == "openmpi":  # jobs of MPICH over the bed's wires now and then never end, also without Sluice
    two_small_nodes_have_a_wire_and_rows()
