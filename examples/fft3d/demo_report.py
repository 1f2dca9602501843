#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The verdicts of demo.sh: `limit FOLDER` prints the size of the small node; `show FOLDER` what became of the four runs, and fails
unless the form in place ended there with the right sums and hardly a major fault, and the plain form paged or had no memory: that
it was ended for its time alone proves nothing."""
import json
import os
import re
import sys

order, folder = sys.argv[1:]
MIB = 1 << 20
FEW_FAULTS = 1000  # files of the programs are read again in a small node
FEW_OF_THE_SOLVER = 10


def verdict(name):
    with open(os.path.join(folder, name + ".json"), encoding="utf-8") as file:
        report = json.load(file)
    with open(os.path.join(folder, name + ".txt"), encoding="utf-8") as file:
        report["verified"] = "verified" in (text := file.read())
        report["solved"] = float(found[1]) if (found := re.search(r"([\d.]+) s,", text)) else None
        report["solver_faults"] = int(found[1]) if (found := re.search(r"(\d+) major faults on the worst rank", text)) else None
    return report


def require(what, right):
    if not right:
        sys.exit(f"demo: {what}; {folder} has the outputs")


free = {form: verdict(form) for form in ("in-place", "plain")}
for form, report in free.items():
    require(f"{form} without a limit: {report['outcome']}", report["outcome"] == "ok" and report["verified"])
held = {form: report["peak_held_bytes"] for form, report in free.items()}
saved = held["plain"] - held["in-place"]  # the second array
if order == "limit":
    print((held["in-place"] + saved // 10) // 4096 * 4096)
    sys.exit()

small = {form: verdict(form + "-small") for form in ("in-place", "plain")}
for form in free:
    end = small[form]
    took = f" in {end['solved']:.2f} s" if end["solved"] else f" after {end['seconds']:.0f} s"
    print(f"{form:<9} held at most {held[form] / MIB:6.1f} MiB, {free[form]['solved']:.2f} s;  "
          f"in {end['limit_bytes'] / MIB:.1f} MiB ({end['limit']}): {end['outcome']}{took}, {end['major_faults']} major faults")
fits, plain = small["in-place"], small["plain"]
require(f"in place in the small node: {fits['outcome']}", fits["outcome"] == "ok" and fits["verified"])
require(f"in place: {fits['major_faults']} major faults", fits["major_faults"] < FEW_FAULTS)
require(f"in place: {fits['solver_faults']} major faults in the solver", fits["solver_faults"] <= FEW_OF_THE_SOLVER)
pages = plain["major_faults"] > 10 * max(fits["major_faults"], FEW_FAULTS)
require(f"the plain form: {plain['outcome']}, {plain['major_faults']} major faults", pages or plain["outcome"] in ("killed", "failed"))
