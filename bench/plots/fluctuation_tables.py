#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the tables of docs/results/fluctuation.md from the JSON lines of `sluice bench fluctuation --json`.

    fluctuation_tables.py FOLDER [PAGE.md]

FOLDER holds the files of fluctuation.sh, one for each table. Prints the tables, or puts each between its marks in
PAGE.md: <!-- fluctuation: NAME --> … <!-- end --> .
"""
import sys

from pages import MIB, put_into, rows_of, spread, table

NAMES = {"at_once": "all at once", "cube_by_cube": "cube by cube", "fetch": "fetched", "send": "sent", "paged": "out of core",
         "compute": "compute alone", "exchange": "exchange alone"}


def method(row):
    settings = row.get("settings", "")
    name = NAMES.get(row["method"] if "method" in row else row["ratio"].split("/")[0].replace("_beside_neighbour", ""), row.get("method"))
    if settings == "tokens=1000000":
        return name + ", tokens for all"
    if settings == "send_control=off":
        return name + ", uncontrolled"
    if "tokens" in row:
        return f"{name}, {row['tokens']} tokens"
    return name + (", `" + settings.replace(":", " ") + "`" if settings else "")


def ratio_of(row, rows):
    """Returns the ratio row of a method's row."""
    same = ["case", "mpi", "bed", "ranks", "base_mib", "edge", "deal", "settings", "beside_neighbour", "rate_mbit"]
    for other in rows:
        nodes = ["node_bytes", "swap_bytes"] if "node_bytes" in other else []  # only rows of one launch have these
        if "ratio" in other and other["ratio"].startswith(row["method"]) and all(other.get(f) == row.get(f) for f in same + nodes):
            return spread(other["time"], 1, 2)
    return "–"


def in_turns(rows):
    """Rows of one launch each: methods with plenty of memory."""
    measured = [row for row in rows if "method" in row and row["case"] != "micro" and row["deal"] != "hotspot"]
    if not measured:
        return None
    hid = any("overlap" in row for row in measured)
    head = ["case", "MPI", "method", "ms a step", "to all at once", "million points/s a rank", "extra KiB a rank, counted / resident"]
    lines = []
    for row in measured:
        memory = "–"
        if "extra_counted" in row:
            memory = f"{row['extra_counted'] / 1024:.0f} / {row['extra_resident'] / 1024:.0f}"
        rate = f"{row['updates_per_second_per_rank'] / 1e6:.1f}" if "updates_per_second_per_rank" in row else "–"
        line = [row["case"], row["mpi"], method(row), spread(row["seconds"], 1e3), ratio_of(row, rows), rate, memory]
        if hid:
            line.append(spread(row["overlap"], 1, 2) if "overlap" in row else "–")
        lines.append(line)
    return table(head + (["overlap"] if hid else []), lines)


def by_edge(rows):
    """Cubes of other sizes have smaller or larger faces."""
    lines = [[f"{row['edge']}³", row["case"], row["mpi"], method(row), spread(row["seconds"], 1e3), ratio_of(row, rows), f"{row['extra_counted'] / 1024:.0f}"]
             for row in rows if "method" in row]
    return table(["points of a cube", "case", "MPI", "method", "ms a step", "to all at once", "extra KiB a rank"], lines) if lines else None


def fate(row):
    if row["outcome"] != "ok":
        return f"{row['outcome']} after {row['steps_done']} steps"
    text = f"{row['seconds']['median'] * 1e3:.0f}"
    return text + (f" [{row['major_faults']:.0f}]" if row["major_faults"] >= 0.5 else "")


def across_the_limit(rows, case):
    """Rows of a launch each, in one small node or in two."""
    rows = [row for row in rows if row["case"] == case]
    limited = [row for row in rows if row.get("bed") in ("limited", "limited_cluster") and "method" in row]
    if not limited:
        return None
    sizes = sorted({row["base_mib"] for row in limited})
    lines = []
    for name in dict.fromkeys(method(row) for row in limited):
        cells = [name]
        for size in sizes:
            mine = [row for row in limited if method(row) == name and row["base_mib"] == size]
            if not mine:
                cells.append("–")
                continue
            ratio = ratio_of(mine[0], rows)
            cells.append(fate(mine[0]) + (f"; {ratio.split()[0]}" if ratio != "–" else ""))
        lines.append(cells)
    peaks = ["most held in the node by all at once / fetched with 8 tokens, MiB"]
    for size in sizes:
        by = {method(row): row for row in limited if row["base_mib"] == size}
        peaks.append(" / ".join(f"{by[name]['node_peak_bytes'] / MIB:.0f}" if name in by else "–" for name in ("all at once", "fetched, 8 tokens")))
    return table(["method"] + [f"{size:g} MiB" for size in sizes], lines + [peaks])


def alone(rows):
    """Rows of the limited bed, where each row is a launch of its own."""
    lines = []
    for row in rows:
        if "method" not in row or row["bed"] != "limited":
            continue
        beside = "beside a neighbour that takes and frees half" if "beside_neighbour" in row else ""
        took = spread(row["seconds"], 1e3, 0) if row["outcome"] == "ok" else fate(row)
        faults = f"{row['major_faults']:.1f}" if row["outcome"] == "ok" else "–"
        lines.append([f"{row['base_mib']:g}", f"{row['node_bytes'] / MIB:.0f}", f"{row['swap_bytes'] / MIB:.0f}", method(row), beside, took,
                      ratio_of(row, rows), faults, f"{row['node_peak_bytes'] / MIB:.0f}"])
    head = ["MiB a rank", "node, MiB", "swap", "method", "", "ms a step", "to itself without pressure", "major faults a step", "most held"]
    return table(head, lines) if lines else None


def micro(rows):
    lines = []
    for row in rows:
        if row.get("case") == "micro":
            value = spread(row["seconds"], 1e9, 0) + " ns" if "seconds" in row else f"{row['extra_bytes']:.0f} bytes"
            lines.append([row["mpi"], {"task_switch": "switch between tasks", "fetch_8_bytes": "fetch of 8 bytes of the other rank",
                                       "tasks_ready": "a task of 100,000, ready", "tasks_fetching": "a task of 100,000, in a fetch"}[row["method"]], value])
    return table(["MPI", "", "measured"], lines) if lines else None


def policies(rows):
    lines = []
    for row in rows:
        if "method" in row and row["case"] == "jacobi13" and "fetch_order" in row.get("settings", ""):
            where = row["bed"] + (f", {row['rate_mbit']:g} Mbit/s" if "rate_mbit" in row else "")
            lines.append([where, row["mpi"], row["deal"], method(row), spread(row["seconds"], 1e3), ratio_of(row, rows)])
    return table(["bed", "MPI", "cubes dealt", "method", "ms a step", "to the first"], lines) if lines else None


def with_picture(text, words, file):
    return text and f"{text}\n\n![{words}](../images/{file})"


def tables(folder):
    local = rows_of(folder, "local")
    return {
        "local": in_turns(local),
        "micro": micro(local),
        "edges": by_edge(rows_of(folder, "edges")),
        "jacobi13": across_the_limit(rows_of(folder, "limited13"), "jacobi13"),
        "jacobi7": with_picture(across_the_limit(rows_of(folder, "limited7"), "jacobi7"), "The same, 7 points", "fluctuation-jacobi7.svg"),
        "noswap": alone(rows_of(folder, "noswap")),
        "cluster1000": in_turns(rows_of(folder, "cluster1000")),
        "cluster100": in_turns(rows_of(folder, "cluster100")),
        "limited_cluster": across_the_limit(rows_of(folder, "limited_cluster"), "jacobi13"),
        "simulated": in_turns(rows_of(folder, "simulated")),
        "policies": policies(rows_of(folder, "policies")),
        "adaptation": alone(rows_of(folder, "adaptation")),
        "outofcore": alone(rows_of(folder, "outofcore")),
    }


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    made = {name: text for name, text in tables(sys.argv[1]).items() if text}
    if len(sys.argv) == 2:
        for name, text in made.items():
            print(f"{name}\n\n{text}\n")
        return
    put_into(sys.argv[2], "fluctuation", made)


if __name__ == "__main__":
    main()
