#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the tables of docs/results/overlap.md and its picture from the JSON lines of `sluice bench overlap --json`.

    overlap.py FOLDER [PAGE.md IMAGES]

FOLDER holds the files of overlap.sh, one for each table. Prints the tables; or puts each between its marks in PAGE.md,
<!-- overlap: NAME --> … <!-- end -->, and writes IMAGES/overlap.svg: the time of each method over that of the blocking
receive, by size, on the wire of 1 Gbit/s.
"""
import os
import sys

from pages import MIB, MPIS, judged, put_into, rows_of, size, table

TABLES = ["wire1000", "wire100", "wire10000", "local"]
CASES = {"independent": "by_hand", "light": "strips", "heavy": "strips"}


class Rows:
    """The rows of one table."""

    def __init__(self, rows):
        self.rows = rows

    def values(self, field, of=lambda row: True):
        return list(dict.fromkeys(row[field] for row in self.rows if field in row and of(row)))

    def words(self):
        """The words of --overlap under which cells were measured."""
        return self.values("overlap", lambda row: row.get("ratio") == "sluice/blocking")

    def find(self, **fields):
        for row in self.rows:
            if all(row.get(field) == value for field, value in fields.items()):
                return row
        return None

    def cells(self):
        """(mpi, case, bytes) in their order."""
        return list(dict.fromkeys((row["mpi"], row["case"], row["bytes"]) for row in self.rows if row.get("ratio") == "sluice/blocking"))


def median(row):
    return f"{row['time']['median']:.3f}" if row else "–"


def spread(row):
    return f"{row['time']['median']:.3f} ({row['time']['min']:.3f} … {row['time']['max']:.3f})" if row else "–"


def field(row, name, digits=2):
    return f"{row[name]:.{digits}f}" if row and name in row else "–"


def cells(rows):
    """Times over the blocking receive's, and the shares that are hidden."""
    words = rows.words()
    if not words:
        return None
    head = ["MPI", "case", "bytes", "blocking, ms", "Irecv, Wait", "by hand"] + [f"`{word}` (min … max)" for word in words]
    head += [f"Irecv, Wait, `{word}`" for word in words]
    head += ["could be hidden", "hidden by hand"] + [f"by `{word}`" for word in words] + [f"`{word}` of by hand" for word in words]
    head += [f"presence of `{word}`" for word in words]
    lines = []
    for mpi, case, count in rows.cells():
        hand = CASES[case]

        def ratio(name, word, key=(mpi, case, count)):
            return rows.find(mpi=key[0], case=key[1], bytes=key[2], overlap=word, ratio=name)

        first = words[0]
        blocking = rows.find(mpi=mpi, case=case, bytes=count, overlap=first, method="blocking")
        line = [MPIS[mpi], case, size(count), f"{blocking['seconds']['median'] * 1e3:.2f}", median(ratio("irecv/blocking", first)),
                median(ratio(hand + "/blocking", first))]
        line += [spread(ratio("sluice/blocking", word)) for word in words]
        line += [median(ratio("sluice_irecv/blocking", word)) for word in words]
        line += [field(ratio("sluice/blocking", first), "hideable"), field(ratio(hand + "/blocking", first), "hidden")]
        line += [field(ratio("sluice/blocking", word), "hidden") for word in words]
        line += [field(ratio("sluice/" + hand, word), "hidden_of_" + hand) for word in words]
        lines.append(line + [median(ratio("blocking/blocking_plain", word)) for word in words])
    return table(head, lines)


def latency(tables):
    lines = []
    for name, rows in tables.items():
        for row in rows.rows:
            if row["case"] != "latency" or row["overlap"] == "none":
                continue
            added = row["seconds_added"]
            lines.append([place(row), MPIS[row["mpi"]], f"`{row['overlap']}`", f"{row['seconds_straight'] * 1e6:.2f}",
                          f"{added['median'] * 1e9:+.0f} ({added['low'] * 1e9:+.0f} … {added['high'] * 1e9:+.0f})"])
    return table(["bed", "MPI", "`--overlap`", "8 bytes, µs", "added, ns (95 %)"], lines) if lines else None


def place(row):
    return f"{row['rate_mbit']:g} Mbit/s" if "rate_mbit" in row else row["bed"]


def idle(tables):
    lines = []
    for name, rows in tables.items():
        for row in rows.rows:
            if row["case"] == "idle" and row["overlap"] != "none":
                woken = ", ".join(f"{thread}: {count}" for thread, count in row["wake_ups"].items()) or "no thread"
                lines.append([place(row), MPIS[row["mpi"]], f"`{row['overlap']}`", f"{row['seconds']:g}", woken])
    return table(["bed", "MPI", "`--overlap`", "idle seconds", "wake-ups of both ranks, by thread"], lines) if lines else None


def delayed(tables):
    lines = []
    for name, rows in tables.items():
        for mpi in rows.values("mpi"):
            mine = [row for row in rows.rows if row["case"] == "delayed" and row["mpi"] == mpi]
            if mine:
                lines.append([place(mine[0]), MPIS[mpi], ", ".join(f"{row['overlap']}: {row['delayed'] * 100:.1f} %" for row in mine)])
    return table(["bed", "MPI", "a rank waited for a processor"], lines) if lines else None


def ratios_of(rows, word, case, least, most=1 << 40, name="sluice/blocking", value=lambda row: row["time"]["median"]):
    return [value(row) for row in rows.rows if row.get("ratio") == name and row["overlap"] == word and row["case"] == case
            and least <= row["bytes"] <= most and value(row) is not None]


def first_gain(rows, mpi):
    """The smallest size from which on every size wins in the middle of its pairs."""
    sizes = {row["bytes"]: row["time"]["median"] for row in rows.rows
             if row.get("ratio") == "sluice/blocking" and row["overlap"] == "on" and row["case"] == "independent" and row["mpi"] == mpi}
    least = None
    for count in sorted(sizes, reverse=True):
        if sizes[count] >= 0.99:
            break
        least = count
    return least


def added_by_auto(rows):
    """Nanoseconds that `auto` adds to an 8-byte message, less those of watching alone."""
    found = []
    for mpi in rows.values("mpi"):
        by_word = {row["overlap"]: row["seconds_added"]["median"] for row in rows.rows if row["case"] == "latency" and row["mpi"] == mpi}
        if "auto" in by_word and "off" in by_word:
            found.append((by_word["auto"] - by_word["off"]) * 1e9)
    return found


def over_watching(rows):
    """`auto` over blocking by the same of the program under `off`, cell by cell."""
    found = []
    for mpi, case, count in rows.cells():
        auto, off = (rows.find(mpi=mpi, case=case, bytes=count, overlap=word, ratio="sluice/blocking") for word in ("auto", "off"))
        if auto and off:
            found.append(auto["time"]["median"] / off["time"]["median"])
    return found


def woken(tables):
    """Wake-ups of the thread that calls MPI in an idle second; that of the samples has its own, with overlap or without."""
    return [row["wake_ups"].get("sluice-overlap", 0) for rows in tables.values() for row in rows.rows
            if row["case"] == "idle" and row["overlap"] in ("on", "auto")]


def targets(tables):
    wire, local = tables["wire1000"], tables["local"]
    share = {"name": "sluice/by_hand", "value": lambda row: row.get("hidden_of_by_hand")}
    lines = judged("independent, from 4 MiB on, `on` over blocking", ratios_of(wire, "on", "independent", 4 * MIB), 0.6, True)
    lines += judged("the same, share of what tests by hand hide", ratios_of(wire, "on", "independent", 4 * MIB, **share), 0.97, False)
    started = {"name": "sluice_irecv/by_hand", "value": lambda row: row.get("hidden_of_by_hand")}
    lines += judged("MPI_Irecv and MPI_Wait, from 4 MiB on, the same share", ratios_of(wire, "on", "independent", 4 * MIB, **started), 0.97, False)
    lines += judged("1 MiB, share of what tests by hand hide", ratios_of(wire, "on", "independent", MIB, MIB, **share), 0.85, False)
    for mpi in wire.values("mpi"):
        if "on" in wire.words():
            gain = first_gain(wire, mpi)
            lines.append([f"the gain begins, {MPIS[mpi]}", "≤ 512 KiB", size(gain) if gain else "nowhere",
                          f"{int(gain is not None and gain <= MIB // 2)} of 1"])
    lines += judged("light pass, `auto` over blocking", ratios_of(wire, "auto", "light", 0), 1.01, True)
    nothing = [ratio for case in CASES for ratio in ratios_of(local, "auto", case, 0)]
    lines += judged("bed local, all cases, `auto` over blocking", nothing, 1.01, True)
    lines += judged("the same, over the program that is only watched", over_watching(local), 1.01, True)
    lines += judged("8-byte message on bed local, ns that `auto` adds to watching", added_by_auto(local), 100, True)
    lines += judged("wake-ups of its thread in an idle second, `on` and `auto`", woken(tables), 0, True)
    return table(["1 Gbit/s unless a bed is named", "target", "worst cell", "cells that meet it"], lines) if lines else None


def said(tables):
    lines = [f"{place(row)} {row['mpi']} {row['overlap']}: {row['line'].removeprefix('sluice: ')}"
             for rows in tables.values() for row in rows.rows if row["case"] == "said"]
    return "```\n" + "\n".join(lines) + "\n```" if lines else None


STYLES = {"irecv": ("tab:gray", "d-", "MPI_Irecv, MPI_Wait"), "hand": ("tab:green", "^-", "by hand"),
          "on": ("tab:blue", "o-", "--overlap on"), "auto": ("tab:orange", "x--", "--overlap auto"), "off": ("tab:red", "+:", "--overlap off"),
          "started": ("tab:cyan", "s:", "MPI_Irecv, MPI_Wait, --overlap on")}


def draw(rows, folder):
    import matplotlib
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "sluice", "svg.fonttype": "none", "font.size": 9})
    import matplotlib.pyplot as plot

    mpis, words = rows.values("mpi"), rows.words()
    if not words:
        return
    figure, grid = plot.subplots(len(mpis), len(CASES), figsize=(10, 2.9 * len(mpis)), sharex=True, sharey=True, squeeze=False)
    for mpi, line in zip(mpis, grid):
        for (case, hand), axes in zip(CASES.items(), line):
            series = {"irecv": ("irecv/blocking", words[0]), "hand": (hand + "/blocking", words[0]), **{word: ("sluice/blocking", word) for word in words},
                      "started": ("sluice_irecv/blocking", "on")}
            for name, (ratio, word) in series.items():
                mine = sorted((row["bytes"], row["time"]["median"]) for row in rows.rows if row.get("ratio") == ratio
                              and row["overlap"] == word and row["mpi"] == mpi and row["case"] == case)
                colour, style, label = STYLES[name]
                axes.plot([count / MIB for count, _ in mine], [value for _, value in mine], style, color=colour, linewidth=1, markersize=4, label=label)
            axes.axhline(1, color="black", linewidth=0.7)
            axes.set_xscale("log", base=2)
            axes.set_ylim(0.4, 1.3)
            axes.set_title(f"{case}, {MPIS[mpi]}", fontsize=9)
            axes.grid(True, alpha=0.25)
    for axes in grid[-1]:
        axes.set_xlabel("MiB of a message")
    for line in grid:
        line[0].set_ylabel("time over blocking")
    grid[0][0].legend(fontsize=7, loc="upper right")
    figure.tight_layout()
    path = os.path.join(folder, "overlap.svg")
    figure.savefig(path, metadata={"Date": None})
    print(path)


def main():
    if len(sys.argv) not in (2, 4):
        sys.exit(__doc__)
    tables = {name: Rows(rows_of(sys.argv[1], name)) for name in TABLES}
    made = {name: cells(rows) for name, rows in tables.items()}
    made.update({"targets": targets(tables), "latency": latency(tables), "idle": idle(tables), "delayed": delayed(tables), "said": said(tables)})
    made = {name: text for name, text in made.items() if text}
    if not made:
        sys.exit("no rows of the benchmark overlap")
    if len(sys.argv) == 2:
        for name, text in made.items():
            print(f"{name}\n\n{text}\n")
        return
    put_into(sys.argv[2], "overlap", made)
    draw(tables["wire1000"], sys.argv[3])


if __name__ == "__main__":
    main()
