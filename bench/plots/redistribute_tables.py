# SPDX-License-Identifier: BSD-3-Clause
"""Tables of docs/results/redistribute.md."""
from pages import MIB, groups, judged, of_kind, rows_of, spread, table

CELL = ["case", "block_bytes", "ranks"]
BEST = "alltoallv_best"
# Block sizes in bytes, cases (all without), the method, and the most of its time over the better hand-written exchange by ranks.
TARGETS = [
    ("private arrays, 64 B, `random`", [64], ["random"], "token", {2: 1.1, 4: 1.25, 8: 1.4}),
    ("private arrays, 64 B, all cases", [64], None, "token", {2: 1.8, 4: 1.8, 8: 1.8}),
    ("private arrays, 1 KiB", [1024], None, "token", {2: 0.45, 4: 0.6, 8: 0.8}),
    ("private arrays, 16 KB and 1 MiB", [16000, MIB], None, "token", {2: 0.37, 4: 0.42, 8: 0.5}),
    ("arrays of `allocate`, 64 B", [64], None, "token_shared", {2: 0.7, 4: 0.8, 8: 1.05}),
    ("arrays of `allocate`, 16 KB", [16000], None, "token_shared", {2: 0.3, 4: 0.35, 8: 0.42}),
    ("`auto`, all sizes", None, None, "auto", {2: 1.05, 4: 1.05, 8: 1.05}),
]


class Cell:
    """The rows of a case, block size and number of ranks."""

    def __init__(self, rows):
        self.methods = {row["method"]: row for row in of_kind(rows, "method")}
        self.ratios = {row["ratio"]: row["time"] for row in of_kind(rows, "ratio")}

    def ms(self, method):
        row = self.methods.get(method, {})
        return f"{row['seconds']['median'] * 1e3:.1f}" if "seconds" in row else row.get("outcome", "–")

    def ratio(self, ours, theirs):
        ratio = self.ratios.get(f"{ours}/{theirs}")
        return spread(ratio, 1, 2) if ratio else "–"

    def extra(self, *methods):
        return ", ".join(f"{self.methods[method]['extra_bytes'] / MIB:.1f}" if "extra_bytes" in self.methods.get(method, {}) else "–" for method in methods)


def by_cell(rows):
    lines = []
    for (case, block, ranks), same_cell in groups(rows, CELL).items():
        cell = Cell(same_cell)
        limit = cell.ratios.get("token/copy_limit")
        lines.append([case, str(block), str(ranks), cell.ms("token"), cell.ms("alltoallv_warm"), cell.ms("alltoallv_lean"), cell.ratio("token", BEST),
                      cell.ratio("token_shared", BEST), cell.ratio("auto", BEST), cell.ratio("token", "alltoallv_cold"),
                      f"{100 / limit['median']:.0f} %" if limit else "–", cell.extra("token", "auto", "alltoallv_warm")])
    head = ["case", "block", "ranks", "token, ms", "warm, ms", "lean, ms", "token / best", "shared / best", "auto / best", "token / cold", "of the copy limit",
            "extra MiB: token, auto, warm"]
    return table(head, lines)


def strategies(rows):
    names = ["token", "auto", "parking", "cyclic", "alltoallv", "alltoallv_warm", "alltoallv_lean"]
    lines = [[case, str(block)] + [Cell(cell).ms(name) for name in names] for (case, block, _), cell in groups(rows, CELL).items()]
    return table(["case", "block"] + names, lines)


def launches(rows):
    lines = [[row["case"], str(row["block_bytes"]), str(row["ranks"]), str(row["launches"]), f"{row['median']['time']:.2f}", f"{row['greatest']['time']:.2f}",
              f"{row['greatest']['processor']:.2f}"] for row in of_kind(rows, "launches")]
    return table(["case", "block", "ranks", "launches", "token / best, median", "the greatest over it", "processor time, greatest over median"], lines)


def by_ranks(rows):
    lines = []
    for (case, block), same in groups(rows, ["case", "block_bytes"]).items():
        cells = {ranks: Cell(cell) for (ranks,), cell in groups(same, ["ranks"]).items()}
        least = min(cells)
        for ranks, cell in cells.items():
            times = [cells[each].methods["token"]["seconds"]["median"] for each in (ranks, least)]
            lines.append([case, str(block), str(ranks), cell.ms("token"), f"{times[0] / times[1]:.1f}", cell.ratio("token", BEST)])
    return table(["case", "block", "ranks", "token, ms", "over that of the fewest ranks", "token / best"], lines)


def peers(rows):
    lines = []
    for (case,), cell in groups(rows, ["case"]).items():
        ratios = {row["ratio"]: row["time"] for row in of_kind(cell, "ratio")}
        seen = set()
        for row in of_kind(cell, "method"):
            if row["outcome"] != "ok" or row["method"] in seen:
                continue
            seen.add(row["method"])
            memory = [f"{row[name] / MIB:.2f}" if name in row else "–" for name in ("extra_counted", "extra_resident")]
            ratio = ratios.get("token/" + row["method"])
            lines.append([case, row["method"], spread(row["seconds"], 1e3), " / ".join(memory), spread(ratio, 1, 2) if ratio else "–"])
    return table(["case", "method", "ms", "extra MiB, counted / resident", "token / this"], lines)


def wire(rows):
    lines = []
    for (case, block, ranks), same_cell in groups(rows, CELL).items():
        cell = Cell(same_cell)
        shares = [f"{cell.methods[name]['wire_fraction']:.2f}" if "wire_fraction" in cell.methods.get(name, {}) else "–"
                  for name in ("token", "alltoallv_warm", "alltoallv_lean")]
        lines.append([case, str(block), str(ranks), *shares, cell.ratio("token", BEST)])
    return table(["case", "block", "ranks", "share of the wire: token", "warm", "lean", "token / best"], lines)


def judgements_of(rows):
    """For each target the worst median by ranks, and how many cells meet it."""
    lines = []
    for text, blocks, cases, method, limits in TARGETS:
        found = {ranks: [row["time"]["median"] for row in of_kind(rows, "ratio") if row["ratio"] == f"{method}/{BEST}" and row["ranks"] == ranks
                         and (blocks is None or row["block_bytes"] in blocks) and (cases is None or row["case"] in cases)] for ranks in limits}
        met = sum(time <= limits[ranks] for ranks, times in found.items() for time in times)
        if any(found.values()):
            lines.append([text, "≤ " + " / ".join(f"{limit:g}" for limit in limits.values()), " / ".join(f"{max(times):.2f}" if times else "–" for times in found.values()),
                          f"{met} of {sum(len(times) for times in found.values())}"])
    return lines


def redistribute(folder):
    makers = {"openmpi": by_cell, "mpich": by_cell, "strategies": strategies, "launches": launches,
              "ranks": by_ranks, "peers": peers, "wire": wire}
    made = {}
    for name, make in makers.items():
        rows = rows_of(folder, name)
        if rows:
            made[name] = make(rows)
    lines = judgements_of(rows_of(folder, "openmpi") + rows_of(folder, "mpich"))
    greatest = [row["greatest"]["time"] for row in of_kind(rows_of(folder, "launches"), "launches")]
    lines += judged("the greatest of 40 launches over their median", greatest, 1.5, True)
    if lines:
        made["targets"] = table(["time over the better of warm and lean", "target at 2 / 4 / 8 ranks", "worst cell", "cells that meet it"], lines)
    return made
