#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the curves of MADRE's Figure 3 from the JSON lines of `sluice bench madre --json`.

    madre.py ROWS.json PICTURE.png

A cross at the upper edge is a point that did not end within its wall time.
"""
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plot  # noqa: E402

METHODS = {
    "lower_bound": ("0.5", "--", "lower bound"),
    "token": ("tab:blue", "o-", "token"),
    "parking": ("tab:red", "s-", "parking"),
    "cyclic": ("tab:green", "^-", "cyclic"),
    "alltoallv": ("tab:purple", "d-", "alltoallv (out of place)"),
}
TITLES = {
    1: "1: all to the next rank, no free space",
    2: "2: the same with 20 % free",
    3: "3: as free space vanishes",
    4: "4: one empty rank, all scatter",
    5: "5: global transpose, 20 % free",
}


def rows_of(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.startswith("{")]


def points(rows, experiment, method):
    """Returns (x, milliseconds or None) in the order of x; x is the number of ranks, or in experiment 3 the blocks
    moved.
    """
    result = {}
    for row in rows:
        if row.get("case") != f"experiment{experiment}" or row.get("method") != method:
            continue
        if experiment == 3 and "free_blocks" not in row:
            continue
        x = row["blocks"] - row["free_blocks"] if experiment == 3 else row["ranks"]
        result[x] = row["seconds"]["median"] * 1e3 if row["outcome"] == "ok" else None
    return sorted(result.items())


def draw(axes, rows, experiment):
    for method, (colour, style, label) in METHODS.items():
        curve = points(rows, experiment, method)
        done = [(x, y) for x, y in curve if y is not None]
        if done:
            axes.plot(*zip(*done), style, color=colour, label=label)
        for x in (x for x, y in curve if y is None):
            axes.plot([x], [0.97], "x", color=colour, transform=axes.get_xaxis_transform())
    axes.set_title(TITLES[experiment], fontsize=10)
    axes.set_yscale("log")
    axes.set_ylabel("simulated ms")
    if experiment == 3:
        ranks = sorted({row["ranks"] for row in rows if row["case"] == "experiment3"})
        axes.set_xlabel(f"blocks moved by each of {', '.join(map(str, ranks))} ranks")
    else:
        axes.set_xscale("log", base=2)
        axes.set_xlabel("ranks")
    axes.grid(True, which="both", alpha=0.25)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    rows = rows_of(sys.argv[1])
    experiments = [k for k in TITLES if any(row.get("case") == f"experiment{k}" for row in rows)]
    if not experiments:
        sys.exit(f"{sys.argv[1]}: no rows of the benchmark madre")
    columns = min(3, len(experiments))
    lines = -(-len(experiments) // columns)
    figure, grid = plot.subplots(lines, columns, figsize=(5 * columns, 3.8 * lines), squeeze=False)
    for axes in grid.flat[len(experiments):]:
        axes.set_visible(False)
    for axes, experiment in zip(grid.flat, experiments):
        draw(axes, rows, experiment)
    grid.flat[0].legend(fontsize=8)
    cells = {(row["platform"], row["block_bytes"], row["blocks"]) for row in rows if "platform" in row}
    figure.suptitle("; ".join(f"{p}, {m} blocks of {b} bytes a rank" for p, b, m in sorted(cells)), fontsize=10)
    figure.tight_layout()
    figure.savefig(sys.argv[2], dpi=110)


if __name__ == "__main__":
    main()
