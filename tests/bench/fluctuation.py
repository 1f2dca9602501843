#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fluctuation.py SLUICE MPI: checks what `sluice bench fluctuation` prints: counts, bytes and bits, but no seconds."""
import json
import sys

import watched

sluice, mpi = sys.argv[1:]
MIB = 1 << 20


def rows(*arguments):
    command = [sluice, "bench", "fluctuation", "--mpi", mpi, "--json", *arguments]
    return [json.loads(line) for line in watched.lines_of(command)]


def check(what, right):
    if not right:
        sys.exit(what)


def name(row):
    return row["method"] + (":" + row["settings"] if "settings" in row else "")


def every_method_has_its_row():
    printed = rows("--bed", "local", "--case", "jacobi13", "--base", "4", "--edge", "16", "--pairs", "2", "--steps", "3",
                   "--tokens", "2")
    methods = {name(row): row for row in printed if "method" in row}
    check(f"methods {sorted(methods)}", set(methods) == {
        "at_once", "cube_by_cube", "fetch", "fetch:tokens=2", "fetch:tokens=1000000", "send",
        "send:send_control=off", "compute", "exchange"})
    whole = [row for row in methods.values() if row["method"] not in ("compute", "exchange")]
    check("checksums", len({row["checksum"] for row in whole}) == 1)
    for row in methods.values():
        for field in ("case", "ranks", "mpi", "bed", "base_mib", "seconds", "major_faults", "bytes_per_rank"):
            check(f"{field} is missing in {row}", field in row)
        check(f"outcome of {row}", row["outcome"] == "ok" and row["bytes_per_rank"] == 4 * MIB)
    for row in whole:
        check(f"seconds of {row}", 0 < row["seconds"]["min"] <= row["seconds"]["median"] <= row["seconds"]["max"])
        check(f"overlap of {row}", "median" in row["overlap"])
        check(f"extra bytes of {row}", row["extra_bytes"] == max(row["extra_counted"], row["extra_resident"]))
    # Each rank has 64 cubes with six faces of 4 KiB each, in and out. With two tokens, two faces are fetched and two
    # are served.
    check("at_once counts all faces", methods["at_once"]["extra_counted"] == 2 * 64 * 6 * 4096)
    check("two tokens hold one set and two messages at most", methods["fetch:tokens=2"]["extra_counted"] <= 8 * 4096)
    check("tokens", methods["fetch:tokens=2"]["tokens"] == 2 and "tokens" not in methods["fetch"])
    ratios = [row for row in printed if "ratio" in row]
    check(f"ratios {ratios}", [row["ratio"] for row in ratios] == ["cube_by_cube/at_once"] + 3 * ["fetch/at_once"] + 2 * ["send/at_once"])


def tasks_are_small():
    methods = {row["method"]: row for row in rows("--bed", "local", "--case", "micro", "--pairs", "1")}
    check(f"methods {sorted(methods)}", set(methods) == {"task_switch", "fetch_8_bytes", "tasks_ready", "tasks_fetching"})
    for method in ("tasks_ready", "tasks_fetching"):
        row = methods[method]
        # The target is 512 bytes; the MPI's own memory for messages that wait is in the figure, and grows on a busy machine.
        check(f"{row}", row["tasks"] == 100000 and 0 < row["extra_bytes"] <= 1024)


def who_is_killed_is_told():
    limited = ["--bed", "limited", "--case", "jacobi13", "--base", "32", "--steps", "2", "--swap", "0", "--limit", "60",
               "--method", "at_once,fetch:tokens=2"]

    def in_a_node_of(mib):
        return {name(row): row for row in rows("--node", str(mib), *limited) if "method" in row and row["bed"] == "limited"}

    large = in_a_node_of(600)
    if "control group" not in large["at_once"]["limited_by"]:
        print("skipped: no memory control group can be made here (needs root)")
        return
    most, least = (large[method]["node_peak_bytes"] for method in ("at_once", "fetch:tokens=2"))
    check(f"fetching saves {(most - least) / MIB} MiB", most - least > 12 * MIB)  # 2 x 12 MiB of faces in and out
    small = in_a_node_of((most + least) // 2 // MIB)
    check(f"at once: {small['at_once']}", small["at_once"]["outcome"] == "killed" and "seconds" not in small["at_once"])
    check(f"fetched: {small['fetch:tokens=2']}", small["fetch:tokens=2"]["outcome"] == "ok")
    check("bits", small["fetch:tokens=2"]["checksum"] == large["at_once"]["checksum"])


every_method_has_its_row()
tasks_are_small()
who_is_killed_is_told()
