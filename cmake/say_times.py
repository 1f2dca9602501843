#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""say_times.py CTEST.XML CORES: how long the tests labelled quick take in each build folder if they have so many cores for
themselves, next to the bound that CONTRIBUTING.md states. ctest counts halves of a processor. What the tests are is read from
ctest in the current folder."""

import collections
import json
import subprocess
import sys
import xml.etree.ElementTree

BOUND = 180  # seconds on two cores


def processors_of_quick_tests():
    """The processors of each test labelled quick, by its name."""
    shown = subprocess.run(["ctest", "--show-only=json-v1"], capture_output=True, text=True, check=True).stdout
    found = {}
    for test in json.loads(shown)["tests"]:
        properties = {each["name"]: each["value"] for each in test["properties"]}
        if "quick" in properties.get("LABELS", []):
            found[test["name"]] = properties.get("PROCESSORS", 1)
    return found


cores = int(sys.argv[2])
slots = 2 * cores
processors = processors_of_quick_tests()
seconds = collections.Counter()
for case in xml.etree.ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
    name = case.get("name")
    if name in processors:
        seconds[name.split("/")[0]] += float(case.get("time")) * min(processors[name], slots) / slots
for folder, taken in sorted(seconds.items()):
    print(f"== quick tests of {folder}: {taken:.0f} s on {cores} cores; the bound is {BOUND} s on 2 idle cores")
