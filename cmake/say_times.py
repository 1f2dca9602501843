#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""say_times.py CTEST.XML CORES: what the tests of each build folder take: how many there are, their seconds one after the
other, and their seconds if they have so many cores for themselves; and the same of the tests labelled quick, next to the bound
that CONTRIBUTING.md states. ctest counts thirds of a processor. What the tests are is read from ctest in the current folder."""

import collections
import json
import subprocess
import sys
import xml.etree.ElementTree

BOUND = 180  # seconds on two cores


def told_by_ctest():
    """By the name of each test: the thirds of a processor that it counts, and whether it is labelled quick."""
    shown = subprocess.run(["ctest", "--show-only=json-v1"], capture_output=True, text=True, check=True).stdout
    found = {}
    for test in json.loads(shown)["tests"]:
        properties = {each["name"]: each["value"] for each in test["properties"]}
        found[test["name"]] = properties.get("PROCESSORS", 1), "quick" in properties.get("LABELS", [])
    return found


cores = int(sys.argv[2])
slots = 3 * cores
tests = told_by_ctest()
count, one_by_one, together, quick = (collections.Counter() for _ in range(4))
for case in xml.etree.ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
    if case.get("name") not in tests:
        continue
    processors, is_quick = tests[case.get("name")]
    folder = case.get("name").split("/")[0]
    seconds = float(case.get("time"))
    shared = seconds * min(processors, slots) / slots
    count[folder] += 1
    one_by_one[folder] += seconds
    together[folder] += shared
    quick[folder] += shared if is_quick else 0
for folder in sorted(count):
    print(f"== tests of {folder}: {count[folder]}, {one_by_one[folder]:.0f} s one after the other, {together[folder]:.0f} s on "
          f"{cores} cores; quick ones {quick[folder]:.0f} s, whose bound is {BOUND} s on 2 idle cores")
