# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts share that put the rows of `sluice bench … --json` into pages as tables."""
import json
import os
import re

MIB = 1 << 20
MPIS = {"openmpi": "Open MPI", "mpich": "MPICH"}


def rows_of(folder, name):
    """The rows of FOLDER/NAME.jsonl; none without that file."""
    path = os.path.join(folder, name + ".jsonl")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.startswith("{")]


def of_kind(rows, kind):
    """Rows with this field: methods, ratios or targets."""
    return [row for row in rows if kind in row]


def groups(rows, fields):
    """The rows by these fields, in their order."""
    found = {}
    for row in rows:
        found.setdefault(tuple(row.get(field) for field in fields), []).append(row)
    return found


def size(count):
    if count >= MIB and count % MIB == 0:
        return f"{count // MIB} MiB"
    return f"{count // 1024} KiB" if count >= 1024 and count % 1024 == 0 else f"{count} B"


def table(head, lines):
    return "\n".join([f"| {' | '.join(head)} |", "| " + " | ".join("---" for _ in head) + " |"] + [f"| {' | '.join(line)} |" for line in lines])


def spread(of, scale=1.0, digits=1):
    return f"{of['median'] * scale:.{digits}f} ({of['min'] * scale:.{digits}f} … {of['max'] * scale:.{digits}f})"


def judged(text, values, limit, at_most):
    """A line with a target, the worst figure and the number of cells that meet it; none without figures."""
    if not values:
        return []
    met = [value <= limit if at_most else value >= limit for value in values]
    worst = max(values) if at_most else min(values)
    return [[text, f"{'≤' if at_most else '≥'} {limit:g}", f"{worst:.3f}", f"{sum(met)} of {len(met)}"]]


def put_into(page, bench, made):
    """Puts each text of `made` between its marks in the page: <!-- BENCH: NAME --> … <!-- end -->."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    for name, content in made.items():
        text, times = re.subn(rf"(<!-- {bench}: {name} -->\n).*?(<!-- end -->)", lambda m: f"{m[1]}\n{content}\n\n{m[2]}", text, flags=re.S)
        print(f"{name}: {'refreshed' if times else 'no marks for it in ' + page}")
    with open(page, "w", encoding="utf-8") as file:
        file.write(text)
