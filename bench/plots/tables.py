#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the tables of pages of docs/results (redistribute, alltoall, transpose, …) from the JSON lines of tables.sh.

    tables.py NAME FOLDER [PAGE.md]

FOLDER holds the files of tables.sh. Prints the tables, or puts each between its marks in PAGE.md:
<!-- NAME: TABLE --> … <!-- end -->.
"""
import sys

from pages import MIB, MPIS, groups, judged, of_kind, put_into, rows_of, size, spread, table
from redistribute_tables import redistribute

TARGETS = ["", "target", "worst cell", "cells that meet it"]


def same(row, other, fields):
    return all(row.get(field) == other.get(field) for field in fields)


# --- alltoall

ALLTOALL_CELL = ["mpi", "ranks", "case", "buffers", "bytes"]
WAYS = ["log_step", "window", "pull", "auto", "plan", "measured"]


def alltoall(folder):
    rows = rows_of(folder, "openmpi") + rows_of(folder, "mpich")
    lines = []
    for (mpi, ranks, case, buffers, count), cell in groups(rows, ALLTOALL_CELL).items():
        times = {row["method"]: row for row in of_kind(cell, "method")}
        ratios = {row["ratio"]: row["time"] for row in of_kind(cell, "ratio")}
        if "mpi" not in times:
            continue
        line = [MPIS[mpi], str(ranks), case, buffers, size(count), f"{times['mpi']['seconds']['median'] * 1e6:.1f}"]
        line += [f"{ratios[way + '/mpi']['median']:.2f}" if way + "/mpi" in ratios else "–" for way in WAYS]
        line += [f"{ratios['plan/best']['median']:.2f}" if "plan/best" in ratios else "–", times.get("plan", {}).get("algorithm", "–")]
        extra = [f"{times[way]['extra_resident'] / 1024:.0f}" if way in times else "–" for way in ("plan", "mpi")]
        lines.append(line + [" / ".join(extra)])
    head = ["MPI", "ranks", "case", "buffers", "bytes a pair", "the MPI's call, µs"] + [f"`{way}`" for way in WAYS]
    made = {"cells": table(head + ["`plan` over the best", "chosen", "extra KiB, `plan` / MPI"], lines)} if lines else {}

    def ratios_of(name):
        return [row["time"]["median"] for row in of_kind(rows, "ratio") if row["ratio"] == name]

    judgements = judged("a plan over the MPI's own call", ratios_of("plan/mpi"), 1.03, True)
    judgements += judged("a plan over the way that was best", ratios_of("plan/best"), 1.1, True)
    judgements += judged("a measured plan over the MPI's own call", ratios_of("measured/mpi"), 1.03, True)
    judgements += judged("a call without a plan over the MPI's own", ratios_of("auto/mpi"), 1.03, True)
    if judgements:
        made["targets"] = table(TARGETS, judgements)
    return made


# --- transpose

TRANSPOSE_CELL = ["bed", "ranks", "staging", "case"]


def transpose(folder):
    rows = rows_of(folder, "node") + rows_of(folder, "wire")
    made = {}
    for (bed,), here in groups(rows, ["bed"]).items():
        lines = []
        for (_, ranks, staging, case), cell in groups(here, TRANSPOSE_CELL).items():
            peers = [row for row in of_kind(cell, "method") if row["method"] != "sluice"]
            ours = [row for row in of_kind(cell, "method") if row["method"] == "sluice"]
            for mine, peer in zip(ours, peers):
                ratio = next(row["time"] for row in of_kind(cell, "ratio") if row["ratio"] == "sluice/" + peer["method"])
                line = [case.replace("_", " "), str(ranks), size(staging), peer["method"].replace("fftw_", "FFTW_").upper(),
                        f"{mine['seconds']['median'] * 1e3:.1f}", f"{peer['seconds']['median'] * 1e3:.1f}", spread(ratio, 1, 2)]
                line += [f"{row['wire_fraction']:.2f}" for row in (mine, peer) if "wire_fraction" in row]
                lines.append(line)
        head = ["arrays", "ranks", "staging", "the peer plans by", "Sluice, ms", "FFTW, ms", "Sluice / FFTW"]
        head += ["share of the wire", "FFTW's share"] if bed == "cluster" else []
        made["wire" if bed == "cluster" else "node"] = table(head, lines)

    def ratios_of(bed, case):
        return [row["time"]["median"] for row in of_kind(rows, "ratio") if row["bed"] == bed and row["case"] == case]

    judgements = judged("in place in a node, over FFTW", ratios_of("local", "in_place"), 0.7, True)
    judgements += judged("into another array in a node, over FFTW", ratios_of("local", "out_of_place"), 1.0, True)
    shares = [row["wire_fraction"] for row in of_kind(rows, "wire_fraction") if row["method"] == "sluice"]
    judgements += judged("share of the wire, two nodes", shares, 0.95, False)
    if judgements:
        made["targets"] = table(TARGETS, judgements)
    return made


# --- ft

def form_of(row):
    return row["method"] + (f", {row['tokens']} tokens" if "tokens" in row else "")


def fate(row):
    """Seconds and major faults, or how the launch ended."""
    if row["outcome"] != "ok":
        return row["outcome"]
    faults = row.get("node_major_faults", row.get("major_faults", 0))
    return f"{row['seconds']:.2f} [{faults:,.0f}]"


def tasks_of(row):
    return f"{row['tasks']} tasks"


def limit_of(row):
    return f"{row['node_bytes'] // MIB} MiB" if "node_bytes" in row else "none"


def matrix(rows, column, head):
    columns = list(dict.fromkeys(column(row) for row in rows))
    lines = [[form] + [next((fate(row) for row in mine if column(row) == name), "–") for name in columns]
             for form, mine in groups([{**row, "form": form_of(row)} for row in rows], ["form"]).items() for form in form]
    return table([head] + columns, lines)


def message_memory(rows):
    """A line for each number of tasks: messages held at once on the rank that held most, in MiB."""
    lines = []
    allowed = [None, *sorted({row["tokens"] for row in rows if "tokens" in row})]
    for (mpi, tasks), cell in groups(rows, ["mpi", "tasks"]).items():
        # Each task has an array, which is divided between all tasks.
        message = cell[0]["base_mib"] / tasks / (tasks * cell[0]["ranks"])
        line = [MPIS[mpi], str(tasks), size(message * MIB)]
        for tokens in allowed:
            held = [row["message_mib"] for row in cell if row.get("tokens") == tokens and row["outcome"] == "ok"]
            share = f" ({max(held) / (tokens * message):.2f})" if held and tokens else ""
            line.append(f"{max(held):.2f}{share}" if held else "–")
        lines.append(line)
    return table(["MPI", "tasks", "a message"] + [f"{tokens} tokens" if tokens else "normal" for tokens in allowed], lines)


def ft(folder):
    made = {}
    for name, column in (("limits", limit_of), ("two_nodes", limit_of), ("tasks", tasks_of)):
        for mpi, rows in groups(rows_of(folder, name), ["mpi"]).items():
            made[f"{name}, {mpi[0]}"] = matrix(of_kind(rows, "method"), column, "form, seconds [major faults]")
    tasks = of_kind(rows_of(folder, "tasks"), "method")
    if tasks:
        made["memory"] = message_memory(tasks)
    pairs = rows_of(folder, "pairs")
    lines = [[MPIS[row["mpi"]], row["case"], str(row["ranks"]), row["ratio"], spread(row["time"], 1, 2)] for row in of_kind(pairs, "ratio")]
    if lines:
        made["pairs"] = table(["MPI", "class", "ranks", "over plain", "time"], lines)
    return made


# --- flood

FLOOD_CELL = ["bed", "mpi", "case", "bytes", "ranks"]


def flood(folder):
    rows = [row for name in ("small", "large", "two", "two_small", "ping_pong", "mpich", "cluster", "cluster_small", "idle") for row in rows_of(folder, name)]
    lines = []
    for (bed, mpi, case, count, ranks), cell in groups(rows, FLOOD_CELL).items():
        times = {row["method"]: row for row in of_kind(cell, "method")}
        ratio = next((row["time"] for row in of_kind(cell, "ratio")), None)
        if not times or case == "idle":
            continue

        def figure(name, text):
            return text(times[name]) if name in times and times[name]["outcome"] == "ok" else times.get(name, {}).get("outcome", "–")

        lines.append([bed, MPIS[mpi], case, size(count), str(ranks), figure("mpi", lambda row: f"{row['seconds']['median']:.2f}"),
                      spread(ratio, 1, 2) if ratio else "–", figure("mpi", lambda row: f"{row['extra_bytes'] / MIB:.2f}"),
                      figure("sluice", lambda row: f"{row['extra_bytes'] / MIB:.2f}")])
    head = ["bed", "MPI", "case", "bytes", "ranks", "plain, s", "time with `--flood on`", "growth, MiB, plain", "with"]
    made = {"cells": table(head, lines)} if lines else {}

    floods = [[row["bed"], MPIS[row["mpi"]], f"{row['messages']:,}", f"{row['extra_bytes'] / MIB:.2f}"] for row in of_kind(rows_of(folder, "long"), "method")]
    if floods:
        made["long"] = table(["bed", "MPI", "messages", "growth, MiB"], floods)

    def times_of(cases, least=0, most=1 << 40):
        return [row["time"]["median"] for row in of_kind(rows, "ratio") if row["case"] in cases and least <= row["bytes"] <= most]

    grown = [row["extra_bytes"] / MIB for row in of_kind(rows + rows_of(folder, "long"), "method")
             if row["method"] == "sluice" and row["outcome"] == "ok" and row["case"] in ("many_to_one", "computes", "bcast", "reduce", "gather")]
    judgements = judged("growth with `--flood on`, MiB", grown, 1, True)
    judgements += judged("many to one from 4000 bytes on", times_of(["many_to_one"], 4000), 1.0, True)
    judgements += judged("many to one, 1 KiB and less", times_of(["many_to_one"], 0, 1024), 1.2, True)
    judgements += judged("the receiver computes", times_of(["computes"]), 1.02, True)
    judgements += judged("ping-pong", times_of(["ping_pong"]), 1.02, True)
    judgements += judged("rooted collectives", times_of(["bcast", "reduce", "gather"]), 1.02, True)
    kernels = [row["time"]["median"] for row in of_kind(rows_of(folder, "kernel"), "ratio")]
    judgements += judged("FT of the NAS Parallel Benchmarks, classes W and A", kernels, 1.02, True)
    idle = []
    for cell in groups([row for row in of_kind(rows, "method") if row["case"] == "idle"], ["mpi"]).values():
        each = {row["method"]: row["seconds"]["median"] / row["messages"] * 1e6 for row in cell}
        if len(each) == 2:
            idle.append(each["sluice"] - each["mpi"])
    judgements += judged("a send that is not held, µs more", idle, 0.05, True)
    if judgements:
        made["targets"] = table(TARGETS, judgements)
    return made


# --- registration

def registration(folder):
    counted = rows_of(folder, "counting")
    lines = []
    for (case,), cell in groups([row for row in counted if row["case"] != "main_thread"], ["case"]).items():
        by = {row["method"]: row for row in of_kind(cell, "method")}
        if "sluice" not in by or "leave_pinned" not in by:
            continue
        ours, kept = by["sluice"], by["leave_pinned"]
        best = by.get("optimum", {}).get("peak_pinned")
        paper = next((row["paper_saving_percent"] for row in cell if "paper_saving_percent" in row), None)
        lines.append([case, f"{kept['peak_pinned'] / MIB:.1f}", f"{100 * (1 - ours['peak_pinned'] / kept['peak_pinned']):.1f}",
                      f"{100 * (1 - ours['late_average_pinned'] / kept['late_average_pinned']):.1f}", f"{paper:g}" if paper is not None else "–",
                      f"{ours['peak_pinned'] / best:.2f}" if best else "–", f"{by['published']['peak_pinned'] / kept['peak_pinned']:.2f}",
                      f"{100 * ours['within_five_percent']:.0f}" if 'within_five_percent' in ours else "–", f"{ours['late_main_registrations']} of {ours['late_messages']}"])
    head = ["shape", "leave pinned, peak MiB", "peak saved, %", "average saved, %", "the paper's, %", "peak over the best possible", "peak as published / leave pinned",
            "foretold within 5 %", "registered by the main thread"]
    made = {"counting": table(head, lines)} if lines else {}
    judgements = []
    for (text,), rows in groups(of_kind(counted, "target"), ["target"]).items():
        met = sum(row["met"] for row in rows)
        goal = next((f"≤ {row['most']:g}" if "most" in row else f"≥ {row['least']:g}" for row in rows), "")
        missed = ", ".join(row["case"] for row in rows if not row["met"]) or "none"
        judgements.append([text, goal if len({row.get("most", row.get("least")) for row in rows}) == 1 else "by shape", f"{met} of {len(rows)}", missed])
    if judgements:
        made["targets"] = table(["figure", "target", "shapes that meet it", "those that do not"], judgements)
    real = []
    for name in ("mlock", "io_uring", "own_pace"):
        for (case,), cell in groups(rows_of(folder, name), ["case"]).items():
            by = {row["method"]: row for row in of_kind(cell, "method")}
            ratios = {row["ratio"]: row for row in of_kind(cell, "ratio")}
            if "sluice/leave_pinned" not in ratios:
                continue
            over = ratios["sluice/leave_pinned"]
            registered = [str(by[method]["main_registrations"]) for method in ("leave_pinned", "sluice", "direct")]
            own_pace = 1 + (over["time"]["median"] - 1) / over["faster"]
            real.append([over["registrar"], case, f"{over['faster']:.0f}", spread(over["time"], 1, 3), f"{own_pace:.4f}", " / ".join(registered),
                         spread(ratios["sluice/direct"]["time"], 1, 2), f"{over['peak_pinned']:.2f}", f"{over['average_pinned']:.2f}"])
    if real:
        made["real"] = table(["registrar", "shape", "times faster", "time over leave pinned", "at its own pace", "registered by the main thread: leave pinned / Sluice / direct",
                              "time over direct", "peak over leave pinned", "average"], real)
    guest = [[MPIS[row["mpi"]], f"`{row['method']}`", str(row["messages"]), str(row["registered_by_main"]), str(row["removed_by_main"]),
              f"{100 * row['found']:.0f}", f"{row['peak_pinned'] / MIB:.1f}", f"{row['average_pinned'] / MIB:.1f}"] for row in rows_of(folder, "rdma")]
    if guest:
        made["rdma"] = table(["MPI", "method", "messages", "registered by the main thread", "removed by it", "found registered, %",
                              "peak MiB", "average MiB"], guest)
    return made


MAKERS = {"redistribute": redistribute, "alltoall": alltoall, "transpose": transpose, "ft": ft, "flood": flood, "registration": registration}


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in MAKERS:
        sys.exit(__doc__)
    made = MAKERS[sys.argv[1]](sys.argv[2])
    if not made:
        sys.exit(f"no rows of the benchmark {sys.argv[1]}")
    if len(sys.argv) == 4:
        put_into(sys.argv[3], sys.argv[1], made)
        return
    for name, text in made.items():
        print(f"{name}\n\n{text}\n")


if __name__ == "__main__":
    main()
