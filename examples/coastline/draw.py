#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the results of the demo: maps of the world by owning rank, and memory over time."""

import glob
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D

from demo_run import MIB, Run

# These colours can also be told apart by the colour-blind (Okabe and Ito).
RANK_COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#B8A800"]
PAPER = "#FFFFFF"
INK = "#222222"
SLUICE = "#0072B2"
OTHER = "#D55E00"
CELLS = (1440, 720)  # cells of the whole map

plt.rcParams.update({"font.family": "DejaVu Sans", "font.size": 10, "axes.edgecolor": "#888888", "text.color": INK,
                     "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK, "figure.facecolor": PAPER})


def colour_of(rank):
    return RANK_COLOURS[rank % len(RANK_COLOURS)]


def owners(folder, name):
    """Draws a picture in which each cell has the colour of the rank with most points in it, paler if there are few."""
    paths = glob.glob(os.path.join(folder, name + ".*"))
    counts = np.zeros((len(paths), CELLS[1], CELLS[0]), dtype=np.int32)
    for path in paths:
        points = np.fromfile(path, dtype=np.float32).reshape(-1, 2)
        x = ((points[:, 0] + 180) % 360 / 360 * CELLS[0]).astype(int)
        y = ((points[:, 1] + 90) / 180 * CELLS[1]).astype(int)
        np.add.at(counts[int(path.rsplit(".", 1)[1])], (np.clip(y, 0, CELLS[1] - 1), np.clip(x, 0, CELLS[0] - 1)), 1)
    colours = np.array([to_rgb(colour_of(rank)) for rank in range(len(paths))])
    total = counts.sum(axis=0)
    strength = np.where(total > 0, 0.55 + 0.45 * np.minimum(total, 4) / 4, 0)[..., None]
    return len(paths), colours[counts.argmax(axis=0)] * strength + np.array(to_rgb(PAPER)) * (1 - strength)


def draw_map(axes, folder, name, title):
    ranks, picture = owners(folder, name)
    axes.imshow(picture, origin="lower", extent=(-180, 180, -90, 90), interpolation="antialiased")
    axes.set_title(title, loc="left", fontsize=10.5)
    axes.set_xticks(range(-120, 121, 60), ["120° W", "60° W", "0°", "60° E", "120° E"], fontsize=8)
    axes.set_yticks(range(-60, 61, 30), ["60° S", "30° S", "0°", "30° N", "60° N"], fontsize=8)
    axes.tick_params(length=2)
    rank_legend(axes, ranks)
    return ranks


def rank_legend(axes, ranks):
    """The legend is in the empty south of the Pacific."""
    handles = [Line2D([], [], linestyle="", marker="s", color=colour_of(rank), label=f"rank {rank}") for rank in range(ranks)]
    axes.legend(handles=handles, frameon=False, handletextpad=0.1, labelspacing=0.35, fontsize=9, loc="center left",
                bbox_to_anchor=(0.03, 0.36))


def draw_memory(axes, folder):
    unlimited, alltoallv, sluice = (Run(os.path.join(folder, name)) for name in ("unlimited", "alltoallv", "sluice"))
    room = sluice.first("room")

    def curve(run, until=None, **style):
        start = run.first("move")["at"]
        at = np.array(run.times) - start
        held = np.array(run.held)
        shown = held >= 0 if until is None else at <= until
        axes.plot(at[shown], held[shown], **style)
        return at[shown], held[shown]

    moved = sluice.first("moved")
    start = sluice.first("move")["at"]
    curve(unlimited, color=OTHER, alpha=0.55, linewidth=1.3, linestyle=(0, (4, 2)),
          label="pack, MPI_Alltoallv, unpack, if nothing limits it")
    at, held = curve(alltoallv, color=OTHER, linewidth=2.2, label="pack, MPI_Alltoallv, unpack, under the limit")
    curve(sluice, color=SLUICE, linewidth=2.2, label="Sluice, under the limit")

    limit = room["limit"] / MIB
    data_top = (room["held"] + room["data"]) / MIB
    axes.axhline(limit, color=INK, linewidth=1.2, linestyle="--")
    axes.axhspan(room["held"] / MIB, data_top, color="#000000", alpha=0.05, linewidth=0)
    axes.axvspan(0, moved["at"] - start, color=SLUICE, alpha=0.18, linewidth=0)

    # The kernel kills the whole job with the rank: the curve falls from its last summit to nothing.
    summit = int(held.argmax())
    axes.plot([at[summit]], [held[summit]], marker="X", markersize=12, color=OTHER, markeredgecolor=PAPER, zorder=5)
    word = "killed" if alltoallv.outcome["oom_kills"] else "out of memory"
    axes.annotate(word, (at[summit], held[summit]), xytext=(10, 12), textcoords="offset points", color=OTHER, weight="bold")

    left = min(Run(os.path.join(folder, name)).times[0] - Run(os.path.join(folder, name)).first("move")["at"]
               for name in ("alltoallv", "sluice"))
    right = max(sluice.times[-1] - start, unlimited.times[-1] - unlimited.first("move")["at"])
    axes.set_xlim(left, right)
    axes.set_ylim(0, max(max(unlimited.held), limit) * 1.08)
    axes.text(right, limit, f"limit {limit:.0f} MiB ", ha="right", va="bottom", fontsize=9)
    axes.text(left + 0.006 * (right - left), data_top - 5, f"the data: {room['data'] / MIB:.0f} MiB,\n"
              f"{100 * sluice.fill():.0f} % of what MPI_Init left", va="top", fontsize=9, color="#555555")
    axes.text(moved["at"] - start + 0.01 * (right - left), (room["held"] + room["data"] / 2) / MIB,
              f"Sluice moves {moved['bytes_moved'] / MIB:.0f} MiB\nin {moved['seconds']:.2f} s", va="center", fontsize=9,
              color=SLUICE, weight="bold")
    axes.set_xlabel("seconds since the blocks begin to move (before: reading; after: comparing every point with the file)")
    axes.set_ylabel("memory held by the job, MiB")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper right", fontsize=9)


def save(figure, folder, name):
    path = os.path.join(folder, name)
    figure.savefig(path, dpi=110, pil_kwargs={"optimize": True})
    plt.close(figure)
    print(os.path.relpath(path))


def main(folder):
    points = os.path.join(folder, "sluice" if glob.glob(os.path.join(folder, "sluice", "after.*")) else "compare")
    titles = {"before": "before: each rank holds what it read, in the order of the file",
              "after": "after: each rank owns a compact part of the Earth"}

    figure, axes = plt.subplots(2, 1, figsize=(10, 10.6), layout="constrained")
    for place, (name, title) in zip(axes, titles.items()):
        draw_map(place, points, name, title)
    save(figure, folder, "map.png")

    figure, axes = plt.subplots(figsize=(10, 5), layout="constrained")
    draw_memory(axes, folder)
    save(figure, folder, "memory.png")

    figure = plt.figure(figsize=(13, 8.4), layout="constrained")
    grid = figure.add_gridspec(2, 2, height_ratios=[1, 1.1])
    for column, (name, title) in enumerate(titles.items()):
        ranks = draw_map(figure.add_subplot(grid[0, column]), points, name, title)
    draw_memory(figure.add_subplot(grid[1, :]), folder)
    figure.suptitle(f"Every coastline point of the world, redistributed in place by {ranks} ranks", x=0.01, ha="left",
                    weight="bold")
    save(figure, folder, "coastline.png")


if __name__ == "__main__":
    main(sys.argv[1])
