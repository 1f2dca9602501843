#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the picture at the head of docs/results.md from the tables in docs/results/*.md, so that it agrees with them.

    headlines.py [DOCS]        DOCS: the folder of the pages (docs); writes DOCS/images/headlines.png
"""
import os
import re
import sys

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams.update({"font.size": 8, "axes.titlesize": 9, "axes.titleweight": "bold"})
import matplotlib.pyplot as plot  # noqa: E402

BLUE, RED, GREY, GREEN, ORANGE = "tab:blue", "tab:red", "0.6", "tab:green", "tab:orange"


def read(docs, page):
    with open(os.path.join(docs, "results", page), encoding="utf-8") as file:
        return file.read()


def tables(text):
    """Returns every table of a page: a list of rows, each a list of cells; the first row is the head."""
    found = re.findall(r"(?:^\|.*\n)+", text, flags=re.M)
    return [[[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if not line.startswith("| ---")]
            for table in found]


def the_tables(text, *heads):
    """Returns the tables that have all these columns."""
    chosen = [table for table in tables(text) if all(head in table[0] for head in heads)]
    if not chosen:
        sys.exit(f"no table with the columns {', '.join(heads)}")
    return chosen


def number(cell):
    """Returns the first number of a cell, or None if a cell holds words."""
    match = re.match(r"-?[\d.]+", cell)
    return float(match[0]) if match else None


def bytes_of(count):
    for unit, size in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size and count % size == 0:
            return f"{count // size} {unit}"
    return f"{count:,} B"


def plain(axes, ticks):
    """Marks these values on a logarithmic axis, written as decimal numbers."""
    axes.set_yticks(list(ticks), [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def memory_of_peers(axes, page):
    """Draws the memory that each method holds in addition to the data, divided by the data."""
    data = 40.0  # MiB a rank, as the text above the table says
    names = {"token": "Sluice", "p4est_transfer": "p4est (keeps order)", "alltoallv_warm": "pack, Alltoallv, unpack",
             "zoltan_migrate": "Zoltan", "petsc_sf": "PETSc star forest"}
    held = {}
    for _, method, _, memory, _ in the_tables(page, "method", "extra MiB, counted / resident")[0][1:]:
        if method in names and method not in held:
            held[method] = max(float(figure) for figure in memory.split(" / ") if figure != "–") / data
    shown = sorted(held, key=held.get, reverse=True)
    bars = axes.barh([names[method] for method in shown], [held[method] for method in shown],
                     color=[BLUE if method == "token" else GREY for method in shown])
    axes.bar_label(bars, fmt="%.2f", padding=2)
    axes.set_xlim(0, 3)
    axes.set_xlabel("memory in addition to the data / the data")
    axes.set_title("Redistribution: memory")


def ratios(axes, cells, title, peer):
    """Draws dots of (bytes, ratio, colour, label) by size, spread sideways so that each is visible."""
    sizes = sorted({size for size, *_ in cells})
    seen = set()
    for place, size in enumerate(sizes):
        mine = sorted(((ratio, colour, label) for at, ratio, colour, label in cells if at == size), key=lambda cell: cell[0])
        for i, (ratio, colour, label) in enumerate(mine):
            x = place + (i % 5 - 2) * 0.1
            axes.plot([x], [max(ratio, 0.01)], "o", color=colour, markersize=3.5, label=None if label in seen else label)
            seen.add(label)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_yscale("log")
    plain(axes, [tick for tick in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 4, 8) if tick >= min(ratio for _, ratio, *_ in cells) / 2])
    axes.set_xticks(range(len(sizes)), [bytes_of(size) for size in sizes])
    axes.set_ylabel(f"time / {peer}")
    axes.legend(loc="upper right" if peer.startswith("pack") else "lower right")
    axes.set_title(title)


def redistribution_times(axes, page):
    cells = []
    for mpi, table in zip(("Open MPI", "MPICH"), the_tables(page, "case", "block", "token / best", "token / cold")):
        column = table[0].index("token / best")
        cells += [(int(row[1]), number(row[column]), BLUE if mpi == "Open MPI" else ORANGE, mpi) for row in table[1:]]
    ratios(axes, cells, "Redistribution: time by block size", "pack, Alltoallv, unpack")


def inplace_times(axes, page):
    cells = []
    for mpi, table in zip(("Open MPI", "MPICH"), the_tables(page, "call", "bytes a pair")):
        for row in table[1:]:
            cells += [(int(row[1]), number(cell), BLUE if mpi == "Open MPI" else ORANGE, mpi) for cell in row[2:-1]]
    ratios(axes, cells, "All-to-all in place: time by bytes a pair", "MPI_IN_PLACE of the MPI")


def small_node(axes, page):
    table = the_tables(page, "method", "64 MiB", "104 MiB")[0]
    sizes = [number(head) for head in table[0][1:]]
    styles = {"all at once": (RED, "s-"), "cube by cube": (GREY, "d-"), "fetched": (BLUE, "o-"), "fetched, 8 tokens": (GREEN, "^-")}
    for row in table[1:]:
        if row[0] not in styles:
            continue
        colour, style = styles[row[0]]
        done = [(size, number(cell)) for size, cell in zip(sizes, row[1:]) if number(cell) is not None]
        axes.plot(*zip(*done), style, color=colour, label=row[0], markersize=4)
        for size, cell in zip(sizes, row[1:]):
            if number(cell) is None:
                axes.plot([size], [0.97], "x", color=colour, transform=axes.get_xaxis_transform())
    axes.set_yscale("log")
    axes.set_xlabel("MiB of points a rank, 2 ranks in 192 MiB (cross: no end)")
    axes.set_ylabel("ms a step")
    plain(axes, (20, 50, 100, 200, 500, 1000, 2000, 4000))
    axes.legend(loc="center")
    axes.set_title("Publish and fetch: a node that is nearly full")


def madre(axes, page):
    table = the_tables(page, "experiment", "token", "parking")[0]
    methods = {"token": BLUE, "parking": RED, "cyclic": GREEN}
    rows = {}
    for row in table[1:]:
        if row[1] == "64" and row[0][0] not in rows and not (row[0][0] == "3" and row[2] != "1"):
            rows[row[0][0]] = row
    for i, (method, colour) in enumerate(methods.items()):
        column = table[0].index(method)
        for place, row in enumerate(rows.values()):
            value = number(row[column])
            at = place + (i - 1) * 0.27
            if value is None:
                axes.plot([at], [0.05], "x", color=colour, transform=axes.get_xaxis_transform())
            else:
                axes.bar([at], [value], 0.25, color=colour, label=method if place == 0 else None)
    axes.set_yscale("log")
    axes.set_ylim(0.8, 200)
    plain(axes, (1, 2, 5, 10, 20, 50, 100))
    axes.set_xticks(range(len(rows)), ["all to next,\nfull", "all to next,\n20 % free", "one block\nfree", "scatter", "transpose"][:len(rows)])
    axes.set_ylabel("time / lower bound")
    axes.legend(loc="upper right")
    axes.set_title("Strategies: 64 simulated ranks (cross: no end)")


def watching(axes, page):
    names, low = [], []
    for table, colour, shift in zip(the_tables(page, "case", "added, µs"), (BLUE, ORANGE), (0.2, -0.2)):
        rows = [row for row in table[1:] if number(row[4]) is not None and "(" in row[4]]
        names = [f"{row[0].split(',')[0].split(':')[0]} {bytes_of(int(row[1]))}" for row in rows]
        at = [len(rows) - 1 - i + shift for i in range(len(rows))]
        axes.barh(at, [number(row[4]) for row in rows], 0.38, color=colour, label="Open MPI" if shift > 0 else "MPICH")
        low = range(len(rows))
    axes.set_yticks([len(names) - 1 - i for i in low], names)
    axes.axvline(1, color="black", linewidth=0.8, linestyle=":")
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_xlabel("% longer in calls (dotted: the target)")
    axes.legend(loc="upper right")
    axes.set_title("sluice run: what watching costs")


def main():
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    docs = sys.argv[1] if len(sys.argv) == 2 else "docs"
    redistribute = read(docs, "redistribute.md")
    figure, axes = plot.subplots(3, 2, figsize=(10, 10))
    memory_of_peers(axes[0][0], redistribute)
    redistribution_times(axes[0][1], redistribute)
    small_node(axes[1][0], read(docs, "fluctuation.md"))
    inplace_times(axes[1][1], read(docs, "inplace.md"))
    madre(axes[2][0], read(docs, "madre.md"))
    watching(axes[2][1], read(docs, "overhead.md"))
    for each in axes.flat:
        each.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    picture = os.path.join(docs, "images", "headlines.png")
    figure.savefig(picture, dpi=90, metadata={"Software": None}, pil_kwargs={"optimize": True})
    print(picture)


if __name__ == "__main__":
    main()
