#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shows what demo.sh measured.

    demo_report.py limit FOLDER    bytes between the two peaks
    demo_report.py show FOLDER     both curves as text, and FOLDER/memory.html; exit code 1 if fetching did not end, or the
                                   bits differ
"""
import csv
import json
import os
import re
import sys

MIB = 1 << 20
WIDTH, HEIGHT = 44, 11  # of one curve in characters
FORMS = {"all": "all ghost faces at once", "fetch": "fetched under tokens"}


def report_of(folder, name):
    with open(os.path.join(folder, name + ".json"), encoding="utf-8") as file:
        return json.load(file)


def curve_of(folder, name):
    """Returns seconds since the start, and MiB."""
    with open(os.path.join(folder, name + ".csv"), encoding="ascii") as file:
        samples = [(float(row["at"]), int(row["held_bytes"]) / MIB) for row in csv.DictReader(file)]
    return [(at - samples[0][0], held) for at, held in samples]


def checksum_of(folder, name):
    with open(os.path.join(folder, name + ".txt"), encoding="utf-8") as file:
        found = re.search(r"checksum (\w+)", file.read())
    return found and found.group(1)


def columns(curve, seconds):
    """Returns the highest value in each of WIDTH intervals of time."""
    most = [0.0] * WIDTH
    for at, held in curve:
        column = min(WIDTH - 1, int(at / seconds * WIDTH))
        most[column] = max(most[column], held)
    return most


def picture(curves, seconds, top):
    """Returns lines of text: both curves side by side, on the same scales."""
    drawn = {form: columns(curve, seconds) for form, curve in curves.items()}
    lines = ["           " + "   ".join(f"{FORMS[form]:<{WIDTH}}" for form in curves)]
    for level in range(HEIGHT, 0, -1):
        least = top * (level - 0.5) / HEIGHT
        label = f"{top * level / HEIGHT:5.0f} MiB |" if level in (HEIGHT, HEIGHT // 2 + 1, 1) else "          |"
        lines.append(label + "  |".join("".join("#" if held >= least else " " for held in drawn[form]) + " " for form in curves))
    lines.append("          +" + "  +".join("-" * WIDTH + " " for _ in curves))
    axis = f"0 {'':{WIDTH - 8}}{seconds:4.1f} s"
    lines.append("           " + "   ".join(f"{axis:<{WIDTH}}" for _ in curves))
    return lines


def sentence(form, large, small):
    fate = {"ok": f"ended, {small['major_faults']} major faults", "killed": "was killed"}.get(
        small["outcome"], f"did not end ({small['outcome']})")
    return (f"{FORMS[form]:<24} held at most {large['peak_held_bytes'] / MIB:6.1f} MiB, {large['seconds']:.2f} s;  "
            f"in {small['limit_bytes'] / MIB:.1f} MiB it {fate}")


def page(curves, sentences, limit, limited_by, seconds, top):
    width, height, left, bottom = 900, 360, 60, 30
    colours = {"all": "#d62728", "fetch": "#1f77b4"}

    def point(at, mib):
        return f"{left + at / seconds * (width - left - 10):.1f},{height - bottom - mib / top * (height - bottom - 10):.1f}"

    lines = "".join(f'<polyline fill="none" stroke="{colours[form]}" stroke-width="1.5" points="'
                    + " ".join(point(at, held) for at, held in curve) + '"/>\n' for form, curve in curves.items())
    grid = "".join(f'<text x="{left - 6}" y="{point(0, mib).split(",")[1]}" text-anchor="end">{mib}</text>'
                   f'<line x1="{left}" x2="{width - 10}" y1="{point(0, mib).split(",")[1]}" y2="{point(0, mib).split(",")[1]}" stroke="#ddd"/>\n'
                   for mib in range(0, int(top) + 1, 50))
    across = point(0, limit / MIB).split(",")[1]
    names = "".join(f'<p><span style="color:{colours[form]}">&#9632;</span> {text}</p>\n' for form, text in sentences.items())
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Memory of a relaxation</title>
<style>body{{font-family:sans-serif;max-width:{width}px;margin:2em auto}} text{{font-size:12px;fill:#555}}</style></head><body>
<h1>Memory of a relaxation, two ways</h1>
{names}<svg width="{width}" height="{height}" role="img" aria-label="MiB held over seconds">
{grid}{lines}<line x1="{left}" x2="{width - 10}" y1="{across}" y2="{across}" stroke="black" stroke-dasharray="4 3"/>
<text x="{left + 4}" y="{float(across) - 4:.1f}">the small node: {limit / MIB:.1f} MiB</text>
<text x="{width - 10}" y="{height - 8}" text-anchor="end">{seconds:.1f} s</text><text x="{left}" y="{height - 8}">0</text>
</svg>
<p>MiB held by the processes of the job over seconds; measured by: {limited_by}. examples/jacobi3d, 2 ranks, 216 cubes of 32&#179; points, two
arrays each, 13 points; the fetched form with SLUICE_FETCH_MEMORY=1MiB SLUICE_SERVE_MEMORY=512KiB.</p>
</body></html>
"""


def show(folder):
    curves = {form: curve_of(folder, form) for form in FORMS}
    large = {form: report_of(folder, form) for form in FORMS}
    small = {form: report_of(folder, form + "-small") for form in FORMS}
    seconds = max(curve[-1][0] for curve in curves.values()) or 1.0
    top = 10 * (1 + int(max(held for curve in curves.values() for _, held in curve) / 10))
    sentences = {form: sentence(form, large[form], small[form]) for form in FORMS}
    print("\n".join(picture(curves, seconds, top) + ["", *sentences.values()]))
    path = os.path.join(folder, "memory.html")
    with open(path, "w", encoding="utf-8") as file:
        file.write(page(curves, sentences, small["all"]["limit_bytes"], large["all"]["limit"], seconds, top))
    print(f"\nThe page: file://{os.path.abspath(path)}")
    sums = {checksum_of(folder, name) for name in ("all", "fetch", "fetch-small")}
    if len(sums) != 1 or None in sums:
        sys.exit(f"demo: the checksums differ: {sums}")
    if small["fetch"]["outcome"] != "ok":
        sys.exit(f"demo: the fetched form did not end in the small node: {small['fetch']['outcome']}")


def main():
    what, folder = sys.argv[1:]
    if what == "limit":
        most, least = (report_of(folder, form)["peak_held_bytes"] for form in FORMS)
        if most <= least:
            sys.exit(f"demo: all faces at once held {most} bytes, fetching {least}")
        print((most + least) // 2)
    else:
        show(folder)


if __name__ == "__main__":
    main()
