#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws figures 2, 4 and 5 of Y. Shi, G. Zheng and L. V. Kale, "Run-time Support for Controlling Communication-Induced
Memory Fluctuation" (2007) from the JSON lines of `sluice bench fluctuation --json`.

    fluctuation.py ROWS.json… FOLDER

Writes these pictures to FOLDER, as far as there are rows:
    fluctuation-memory.svg     memory of the node over time (rows with --curves): for all at once and fetched
    fluctuation-jacobi7.svg    time of a step and memory by size, in a node of limited memory; 7 points
    fluctuation-jacobi13.svg   the same, 13 points
A cross at the upper edge is a run that was killed or took too long.
"""
import json
import os
import sys

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams.update({"svg.hashsalt": "sluice", "svg.fonttype": "none", "font.size": 9})
import matplotlib.pyplot as plot  # noqa: E402

MIB = 1 << 20
STYLES = {
    "at_once": ("tab:red", "s-", "all at once"),
    "cube_by_cube": ("tab:gray", "d-", "cube by cube"),
    "fetch": ("tab:blue", "o-", "fetched, tokens are bytes of M_C"),
    "fetch:tokens=2": ("#9ecae1", "v-", "fetched, 2 tokens"),
    "fetch:tokens=4": ("#6baed6", "<-", "fetched, 4 tokens"),
    "fetch:tokens=8": ("tab:green", "^-", "fetched, 8 tokens"),
    "fetch:tokens=16": ("#006d2c", ">-", "fetched, 16 tokens"),
    "fetch:tokens=1000000": ("tab:orange", "x--", "fetched, tokens for all"),
    "send": ("tab:olive", "+--", "sent, controlled"),
    "send:send_control=off": ("tab:brown", "1--", "sent, uncontrolled"),
    "paged": ("tab:purple", "p-", "out of core"),
}


def rows_of(paths):
    rows = []
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            rows += [json.loads(line) for line in lines if line.startswith("{")]
    return [row for row in rows if row.get("bench") == "fluctuation" and "method" in row]


def name(row):
    return row["method"] + (":" + row["settings"] if "settings" in row else "")


def save(figure, folder, file):
    figure.tight_layout()
    figure.savefig(os.path.join(folder, file), metadata={"Date": None})
    print(os.path.join(folder, file))


def draw_times(axes, rows):
    for method, (colour, style, label) in STYLES.items():
        mine = sorted(((row["base_mib"], row) for row in rows if name(row) == method), key=lambda pair: pair[0])
        done = [(base, row["seconds"]["median"] * 1e3) for base, row in mine if row["outcome"] == "ok"]
        if done:
            axes.plot(*zip(*done), style, color=colour, label=label, markersize=4)
        for base, row in mine:
            if row["outcome"] != "ok":
                axes.plot([base], [0.97], "x", color=colour, transform=axes.get_xaxis_transform())
    axes.set_yscale("log")
    axes.set_ylabel("ms a step")
    axes.set_xlabel("MiB of cubes a rank")
    axes.grid(True, which="both", alpha=0.25)
    axes.legend(fontsize=7)


def draw_memory(axes, free, node_mib):
    """Bars show what a rank holds permanently and, on top, the most that its communication holds."""
    shown = [method for method in ("at_once", "fetch:tokens=8", "fetch") if any(name(row) == method for row in free)]
    sizes = sorted({row["base_mib"] for row in free})
    step = min([b - a for a, b in zip(sizes, sizes[1:])], default=8)
    width = 0.8 * step / max(1, len(shown))
    for i, method in enumerate(shown):
        colour, _, label = STYLES[method]
        bars = sorted((row["base_mib"], row["extra_counted"] / MIB) for row in free if name(row) == method)
        at = [base + (i - (len(shown) - 1) / 2) * width for base, _ in bars]
        axes.bar(at, [base for base, _ in bars], width * 0.9, color="0.8")
        axes.bar(at, [extra for _, extra in bars], width * 0.9, bottom=[base for base, _ in bars], color=colour,
                 label=f"transient, {label}")
    axes.axhline(node_mib, color="black", linestyle=":", linewidth=1)
    axes.text(sizes[0], node_mib, " share of the node", va="bottom", fontsize=7)
    axes.set_ylabel("MiB a rank")
    axes.set_xlabel("MiB of cubes a rank")
    axes.legend(fontsize=7, loc="lower right")


def draw_sizes(rows, case, folder):
    limited = [row for row in rows if row["case"] == case and row["bed"] == "limited" and "beside_neighbour" not in row
               and "curve" not in row]
    if not limited:
        return
    mpi = limited[0]["mpi"]
    node = min(row["node_bytes"] for row in limited)
    limited = [row for row in limited if row["mpi"] == mpi and row["node_bytes"] == node]
    sizes = {row["base_mib"] for row in limited}
    free = [row for row in rows if row["case"] == case and row["bed"] == "local" and row["mpi"] == mpi
            and row["base_mib"] in sizes and row["deal"] == "checkerboard" and "extra_counted" in row]
    ranks = limited[0]["ranks"]
    figure, (left, right) = plot.subplots(1, 2, figsize=(9, 3.6))
    draw_times(left, limited)
    draw_memory(right, free, node / MIB / ranks)
    figure.suptitle(f"{case[6:]} points, {ranks} ranks in a node of {node // MIB} MiB", fontsize=10)
    save(figure, folder, f"fluctuation-{case}.svg")


def draw_curves(rows, folder):
    rows = [row for row in rows if "curve" in row and "beside_neighbour" not in row]
    if not rows:
        return
    nodes = sorted({row["node_bytes"] for row in rows}, reverse=True)
    figure, grid = plot.subplots(1, len(nodes), figsize=(4.5 * len(nodes), 3.4), squeeze=False)
    for axes, node in zip(grid.flat, nodes):
        mine = [row for row in rows if row["node_bytes"] == node]
        largest = max(row["base_mib"] for row in mine)
        for row in mine:
            colour, _, label = STYLES.get(name(row), ("black", "-", name(row)))
            fate = "" if row["outcome"] == "ok" else f", {row['outcome']}"
            axes.plot(row["curve"]["seconds"], row["curve"]["mib"], color=colour, linewidth=1,
                      linestyle="-" if row["base_mib"] == largest else "--",
                      label=f"{row['base_mib']:g} MiB a rank, {label}{fate}")
        axes.axhline(node / MIB, color="black", linestyle=":", linewidth=1)
        axes.set_title(f"node of {node // MIB} MiB", fontsize=9)
        axes.set_xlabel("seconds")
        axes.set_ylabel("MiB held in the node")
        axes.set_ylim(0, 1.05 * min(node / MIB, max(max(row["curve"]["mib"]) for row in mine) * 1.2))
        axes.grid(True, alpha=0.25)
        axes.legend(fontsize=6, loc="lower right")
    save(figure, folder, "fluctuation-memory.svg")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    rows = rows_of(sys.argv[1:-1])
    if not rows:
        sys.exit("no rows of the benchmark fluctuation")
    draw_curves(rows, sys.argv[-1])
    for case in ("jacobi7", "jacobi13"):
        draw_sizes(rows, case, sys.argv[-1])


if __name__ == "__main__":
    main()
